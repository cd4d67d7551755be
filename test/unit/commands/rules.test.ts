// The `rules` command.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { UsageError, type Io } from '../../../src/terminal/command.js'
import { rules } from '../../../src/commands/rules.js'
import { root } from '../../support/cli.js'
import { ruleText } from '../../support/rules.js'

const folder = mkdtempSync(join(tmpdir(), 'threatweave-rules-'))
const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const good = file('good.yml', ruleText('sel:\n    threatweave.verdict: malicious\ncondition: sel'))
const broken = file('broken.yml', ruleText('sel:\n    threatweave.verdict: malicious\ncondition: other'))

const run = async (positionals: readonly string[], values: Record<string, unknown> = {}, input = '') => {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const text = (stream: PassThrough): string => (stream.read() as Buffer | null)?.toString() ?? ''
  const io = {
    stdin: Readable.from([Buffer.from(input)]),
    stdout,
    stderr,
    env: {},
    signal: new AbortController().signal,
  } as unknown as Io
  const code = await rules.run({ positionals, values } as unknown as Parameters<typeof rules.run>[0], io)
  return { code, out: text(stdout), err: text(stderr) }
}

const line = (threatweave: object, more: object = {}): string => `${JSON.stringify({ ...more, threatweave })}\n`

describe('rules check', () => {
  it('accepts the bundled rules without a warning', async () => {
    const { code, out } = await run(['check'])
    expect(code).toBe(0)
    expect(out).toMatch(/^\d+ files, \d+ usable rules, 0 errors, 0 warnings\n$/)
  })

  it('accepts the rules of examples/ beside them', async () => {
    const { code, out } = await run(['check', join(root, 'examples/rules')])
    expect(code).toBe(0)
    expect(out).toMatch(/^4 files, 4 usable rules, 0 errors, 0 warnings\n$/)
  })

  it('names what is wrong by file and line, and fails', async () => {
    const { code, out } = await run(['check', good, broken])
    expect(code).toBe(1)
    expect(out).toMatch(new RegExp(`^error +${broken}:\\d+: .+other`, 'm'))
    expect(out).toContain('2 files, 1 usable rule, 1 error')
  })

  it('says so in JSON, one object a line', async () => {
    const { out } = await run(['check', broken], { json: true })
    expect(JSON.parse(out.split('\n')[0] ?? '')).toMatchObject({
      kind: 'error',
      file: broken,
      line: expect.any(Number) as number,
    })
  })

  it('shows no control character of a rule', async () => {
    const evil = file('evil.yml', ruleText('sel:\n    a: b\ncondition: "\\e[2J"'))
    expect((await run(['check', evil])).out).not.toContain('\u001b')
  })
})

describe('rules check of fields that no event has', () => {
  const warnings = async (field: string): Promise<string> => {
    const odd = file('odd.yml', ruleText(`sel:\n    ${field}: x\ncondition: sel`))
    return (await run(['check', odd])).out
      .split('\n')
      .filter((one) => one.startsWith('warning'))
      .join()
  }

  it.each(['src_ip', 'source.ip', 'srcip', 'DestinationHostname', 'cs-uri-query', 'user.name', 'c-uri', 'message'])(
    'says nothing about %s, which products write or the reader finds',
    async (field) => {
      expect(await warnings(field)).toBe('')
    },
  )

  it.each([
    ['src_ipp', 'did you mean src_ip?'],
    ['Source.IP', 'did you mean source.ip?'],
    ['dns.queston.name', 'did you mean dns.question.name?'],
    ['threat.enrichments.indicator.ip', 'added after the rules have run'],
    ['frobnication', 'no event has unless it is JSON, key=value, CEF or LEEF with a field of just this name'],
  ])('warns of %s', async (field, message) => {
    expect(await warnings(field)).toContain(`tests ${field}, `)
    expect(await warnings(field)).toContain(message)
  })
})

describe('rules test', () => {
  const events =
    line({ verdict: 'malicious' }, { src: '198.51.100.60' }) + line({ verdict: 'clean' }) + 'no json\n{"a":1}\n'

  it('prints which events match which rule, and why', async () => {
    const { code, out, err } = await run(['test', good], { events: ['-'] }, events)
    expect(code).toBe(0)
    expect(out.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/medium {2}A rule {2}because threatweave\.verdict=malicious$/),
    ])
    expect(err).toBe(
      '1 of 4 events matched a rule; 1 rule loaded; 1 are not JSON objects; 1 have no annotation under threatweave\n',
    )
  })

  it('prints it as JSON', async () => {
    const { out } = await run(['test', good], { events: ['-'], json: true }, events)
    expect(JSON.parse(out)).toMatchObject({
      rule: { title: 'A rule', level: 'medium' },
      matched: [{ field: 'threatweave.verdict', value: 'malicious' }],
    })
  })

  it('sees in a wrapped text event what the stream saw', async () => {
    const near = file('near.yml', ruleText('sel:\n    src_ip|cidr: 10.20.0.0/16\n    app: ssl\ncondition: sel'))
    const message = 'date=2026-11-15 time=08:00:00 srcip=10.20.0.7 dstip=203.0.113.99 app=ssl'
    const { out } = await run(
      ['test', near],
      { events: ['-'] },
      line({ verdict: 'malicious', read_as: 'text' }, { message }),
    )
    expect(out).toContain('because src_ip=10.20.0.7 app=ssl')
  })

  it('says which fields of a rule occurred in no event', async () => {
    const typo = file(
      'typo.yml',
      ruleText(
        'sel:\n    threatweave.verdict: malicious\n    src_ip: 198.51.100.60\n    frobnication: 1\ncondition: sel',
      ),
    )
    const { err } = await run(['test', typo], { events: ['-'] }, events)
    expect(err).toMatch(/^A rule: no event has frobnication$/m)
    expect((await run(['test', good], { events: ['-'] }, events)).err).not.toContain('no event has')
  })

  it('tests nothing if a rule cannot be used', async () => {
    const { code, out, err } = await run(['test', broken], { events: ['-'] }, events)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(broken)
  })

  it('requires a subcommand and events', async () => {
    await expect(run([])).rejects.toThrow(UsageError)
    await expect(run(['test', good])).rejects.toThrow(/--events FILE/)
  })
})
