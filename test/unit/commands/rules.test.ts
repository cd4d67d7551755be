// The `rules` command.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { UsageError, type Io } from '../../../src/terminal/command.js'
import { rules } from '../../../src/commands/rules.js'
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
