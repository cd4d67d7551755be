// Settings that there were: each is refused by its name, in a file and in the environment, with what to do instead; and how many there are.
import { describe, expect, it } from 'vitest'
import { environmentName } from '../../../src/config/environment-name.js'
import { settingsOf } from '../../../src/config/environment.js'
import { load } from '../../../src/config/load.js'
import { removed } from '../../../src/config/removed.js'
import { configSchema } from '../../../src/config/schema.js'
import { rowNames } from '../../../src/domain/judgement-table.js'

/** Every setting of version 0.1.0 that is gone. */
const former = [
  ...`
  admit.maxWaiting
  admit.callTimeoutMs
  admit.pauseMs
  admit.maxPauseMs
  admit.breakerFailures
  admit.breakerMs
  admit.maxBreakerMs
  admit.stopMs
  admit.retry.times
  admit.retry.firstMs
  admit.retry.maxMs
  alerts.enabled
  extract.fields
  extract.maxIndicators
  extract.maxEventBytes
  extract.maxDepth
  intel.service.connectTimeoutMs
  intel.service.headersTimeoutMs
  intel.service.bodyTimeoutMs
  intel.service.maxAnswerBytes
  intel.service.maxAnswerDepth
  intel.table.categories
  intel.table.evidenceDays
  intel.table.phishingProbability
  intel.table.newbornDays
  intel.table.dgaScore
  intel.table.signs
  intel.domain.maxAgeDays
  intel.domain.scanPollMs
  memory.maxBytes
  memory.freshSeconds.suspicious
  memory.freshSeconds.noVerdict
  memory.staleSeconds
  memory.jitter
  memory.refreshAhead
  memory.cooldown.firstSeconds
  memory.cooldown.maxSeconds
  memory.cooldown.badInputSeconds
  kafka.transactionalIdPrefix
  kafka.limits.chunkEvents
  kafka.limits.chunkBytes
  kafka.limits.sendBytes
  kafka.limits.chunkDeadlineMs
  kafka.limits.behindEvents
  kafka.limits.concurrentPartitions
  kafka.limits.refreshMs
  serve.plan.inFlight
  serve.plan.credits
  serve.plan.perSecond
  serve.maxAnswers
  serve.maxRows
  serve.scan.atOnce
  serve.scan.timeoutMs
  serve.scan.totalMs
  serve.scan.maxBytes
  serve.scan.maxRedirects
  `
    .trim()
    .split(/\s+/),
  ...rowNames.flatMap((row) => [`intel.table.rows.${row}.level`, `intel.table.rows.${row}.score`]),
]

const readFile = (): string => ''
const problemsWith = (text: string, env: Record<string, string> = {}) => {
  const loaded = load({ file: { name: 'threatweave.yaml', text }, env, readFile })
  return 'problems' in loaded ? loaded.problems : []
}
const nested = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)

const today = settingsOf(configSchema).map(({ path }) => path.join('.'))
const adviceOf = (setting: string): string | undefined =>
  Object.entries(removed).find(([name]) => setting === name || setting.startsWith(`${name}.`))?.[1]

describe('a setting that there was', () => {
  it.each(former)('%s is refused in a file, with its line and what to do instead', (setting) => {
    const advice = adviceOf(setting)
    expect(advice).toBeDefined()
    expect(problemsWith(JSON.stringify(nested(setting.split('.'), 1)))).toEqual([
      { setting, message: `is no longer a setting: ${advice ?? ''}`, where: 'threatweave.yaml:1' },
    ])
  })

  it.each(former)('%s is refused as a variable, with what to do instead', (setting) => {
    const name = environmentName(setting.split('.'))
    expect(problemsWith('', { [name]: '1' })).toEqual([
      { setting: name, message: `is no longer a setting: ${adviceOf(setting) ?? ''}` },
    ])
  })

  it.each(['format', 'columns', 'onBadEntry'])('%s of a feed is refused with what to do instead', (member) => {
    const feeds = [{ name: 'mine', path: 'list.csv', [member]: member === 'columns' ? { value: 3 } : 'csv' }]
    const setting = `feeds.0.${member}${member === 'columns' ? '.value' : ''}`
    expect(problemsWith(JSON.stringify({ feeds }))).toEqual([
      {
        setting,
        message: `is no longer a setting: ${removed[`feeds[].${member}`] ?? ''}`,
        where: 'threatweave.yaml:1',
      },
    ])
  })

  it('is told beside all others, each by its own name, also where a whole section is gone', () => {
    const text = [
      'admit:',
      '  perDay: 100',
      '  retry: { times: 0, firstMs: 10 }',
      'extract:',
      '  fields:',
      '    my_src: source',
      'intel:',
      '  table:',
      '    signs: 3',
      '    rows: { dangerous: { level: malicious } }',
      'output: { colour: red }',
    ].join('\n')
    expect(problemsWith(text).map(({ setting, where }) => `${setting} ${where ?? ''}`)).toEqual([
      'admit.retry.times threatweave.yaml:3',
      'admit.retry.firstMs threatweave.yaml:3',
      'extract.fields.my_src threatweave.yaml:6',
      'intel.table.signs threatweave.yaml:9',
      'intel.table.rows.dangerous.level threatweave.yaml:10',
      'output.colour threatweave.yaml:11',
    ])
  })

  it('is none of today, and its advice names only settings of today', () => {
    expect(former.filter((setting) => today.includes(setting))).toEqual([])
    expect(Object.keys(removed).filter((name) => today.includes(name))).toEqual([])
    const named = Object.values(removed).flatMap((advice) => advice.match(/\b[a-z]+(?:\.[a-zA-Z]+)+\b/g) ?? [])
    const known = [...today, 'formats.md', 'feeds.md', 'judgement.yaml']
    expect(named.filter((name) => !known.includes(name))).toEqual([])
  })

  it('has an entry only where there was one', () => {
    const unused = Object.keys(removed).filter(
      (name) =>
        !name.startsWith('feeds[]') && !former.some((setting) => setting === name || setting.startsWith(`${name}.`)),
    )
    expect(unused).toEqual([])
  })
})

describe('the settings', () => {
  it('are no more than a hundred, the members of a feed included', () => {
    const members = Object.keys(configSchema.properties.feeds.items.properties)
    expect(today.length + members.length).toBeLessThanOrEqual(100)
  })
})
