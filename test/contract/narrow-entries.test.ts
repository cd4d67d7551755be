// Entries for a port and for a URL mean the same however an event comes: alone, in a batch, looked at again later, replayed, or from the past.
import { writeFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openAlerting } from '../../src/app/open-alerting.js'
import { openApp, type AppOptions } from '../../src/app/open-app.js'
import { startRetro } from '../../src/app/open-counting.js'
import { systemClock } from '../../src/base/clock.js'
import { load } from '../../src/config/load.js'
import type { Indicator } from '../../src/domain/indicator.js'
import { judge } from '../../src/domain/judge.js'
import { shippedTable } from '../../src/domain/judgement-table.js'
import { anyPort } from '../../src/domain/seen-port.js'
import type { Role } from '../../src/domain/sighting.js'
import { markOf } from '../../src/domain/verdict.js'
import type { RetroConnections } from '../../src/follow-up/retro.js'
import { allOf, eventsIn } from '../../src/pipeline/pipeline.js'
import { feedFile } from '../support/feed-files.js'

const server = '203.0.113.20'
const url = 'https://files.example.net/drop/a.exe'
const entries = `${server}:443\n${url}\n`
const flow = (port: number): string =>
  JSON.stringify({
    'source.ip': '10.0.0.5',
    'source.port': 50_122,
    'destination.ip': server,
    'destination.port': port,
    'event.category': 'network',
    'event.action': 'allowed',
  })
const visit = (path: string): string =>
  JSON.stringify({
    'source.ip': '10.0.0.5',
    'url.full': `https://files.example.net${path}`,
    'event.category': 'web',
    'event.action': 'allowed',
  })

/** An event, the indicator and level of its verdict, and the level of its alert. */
const kinds: readonly (readonly [string, string, string, string, string])[] = [
  ['the listed port', flow(443), server, 'malicious', 'high'],
  ['another port', flow(22), server, 'suspicious', 'low'],
  ['the listed URL', visit('/drop/a.exe?id=7'), url, 'malicious', 'high'],
  ['another URL of its host', visit('/other'), 'files.example.net', 'suspicious', 'low'],
]

const open = async (list = feedFile(entries), more: Partial<AppOptions> = {}) => {
  const values = {
    memory: { path: 'none' },
    gate: { documentation: true },
    feeds: [{ name: 'own', path: list }],
    kafka: { input: { batches: 'split' } },
  }
  const loaded = load({ values, env: {}, readFile: () => '' })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const alerts = await openAlerting(loaded.config, {})
  if ('problems' in alerts) throw new Error(JSON.stringify(alerts.problems))
  const app = await openApp(loaded.config, { mode: 'complete', env: {}, names: alerts.names, ...more })
  if ('problems' in app) throw new Error(JSON.stringify(app.problems))
  onTestFinished(async () => {
    await Promise.all([app.close(), alerts.close()])
  })
  return { app, alerts }
}
const record = (text: string, nth = 0) => ({ bytes: Buffer.from(text), origin: `events/0/${nth}`, time: 0 })
const told = ({
  threatweave: { value, verdict, level },
}: {
  readonly threatweave: { readonly value?: string; readonly verdict: string; readonly level: string }
}): unknown[] => [value, verdict, level]
const all = kinds.map(([, , value, verdict, level]) => [value, verdict, level])

describe.each(kinds)('an event that shows %s', (_, event, value, verdict, level) => {
  it('is alerted once, although it is looked at again for another answer', async () => {
    const { app, alerts } = await open()
    const fired: string[] = []
    const first = alerts.raise(eventsIn(await allOf(app.pipeline, [record(event)])), (__, firings) =>
      fired.push(...firings),
    )
    expect(first.map(told)).toEqual([[value, verdict, level]])
    const [again] = eventsIn(await allOf(app.again, [record(event)]))
    expect(alerts.raiseLate([{ event: again!, fired }]).alerts).toEqual([])
  })

  it('is alerted the same by a late answer alone', async () => {
    const { app, alerts } = await open()
    const [again] = eventsIn(await allOf(app.again, [record(event)]))
    expect(alerts.raiseLate([{ event: again!, fired: [] }]).alerts.map(told)).toEqual([[value, verdict, level]])
  })

  it('keeps its former verdict in a replay after the list has dropped the entry', async () => {
    const list = feedFile(entries)
    const { app } = await open(list)
    const [before] = eventsIn(await allOf(app.pipeline, [record(event)]))
    writeFileSync(list, 'unrelated.example.net\n')
    const later = await open(list, { replay: { id: 'r1', isAnnotated: true } })
    const host = value === url ? 'files.example.net' : value
    const former = { level: before!.annotation.verdict, decidedBy: markOf(host) }
    const [after] = eventsIn(await allOf(later.app.pipeline, [{ ...record(event), former }]))
    expect([before!.annotation.verdict, after!.annotation.verdict, after!.annotation.former]).toEqual([
      verdict,
      verdict,
      true,
    ])
  })
})

it('means the same for the members of a batch', async () => {
  const { app, alerts } = await open()
  const batch = `[${kinds.map(([, event]) => event).join(',')}]`
  const raised = alerts.raise(eventsIn(await allOf(app.pipeline, [record(batch)])))
  expect(raised.map(told).toSorted()).toEqual(all.toSorted())
})

it('accuses of the past the ports that were counted, answers of name servers and logins', async () => {
  const { app, alerts } = await open()
  let connected: RetroConnections | undefined
  const retro = { start: (connections: RetroConnections) => void (connected = connections) }
  startRetro(retro as never, app, alerts.retroMatch, systemClock, () => undefined)
  const levelOf = (indicator: Indicator, role: Role, ports: readonly number[] = []): string | undefined => {
    const found = connected?.match({ ...indicator, role }, ports)
    return found && judge(found, { ...indicator, role }, shippedTable, Date.now()).level
  }
  const ip: Indicator = { type: 'ip', value: server }
  expect([levelOf(ip, 'answer'), levelOf(ip, 'destination'), levelOf(ip, 'source', [50_122])]).toEqual([
    'malicious',
    'suspicious',
    'suspicious',
  ])
  expect([levelOf(ip, 'destination', [22, 443]), levelOf(ip, 'destination', [22])]).toEqual(['malicious', 'suspicious'])
  expect(levelOf(ip, 'source', [anyPort])).toBe('malicious')
  expect(levelOf({ type: 'domain', value: 'files.example.net' }, 'url')).toBe('suspicious')
})
