// The `explain` command as it is typed, with the worked example of docs/formats.md.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Io } from '../../../src/terminal/command.js'
import { explain } from '../../../src/commands/explain/explain.js'

type Explained = {
  format?: string
  kind?: string
  action: object
  indicators: { value: string; role: string; rule: string; saw?: string }[]
}

const run = async (input: string, { json = false, isTTY = false, env = {} } = {}): Promise<string> => {
  const stdout = Object.assign(new PassThrough(), { isTTY })
  const stdin = Readable.from([Buffer.from(input)])
  const io: Io = { env, stdin, stdout, stderr: new PassThrough(), signal: new AbortController().signal }
  expect(await explain.run({ positionals: [], values: { json } }, io)).toBe(0)
  return (stdout.read() as Buffer | null)?.toString() ?? ''
}
const explainJson = async (line: string, env = {}): Promise<Explained> =>
  JSON.parse(await run(`${line}\n`, { json: true, env })) as Explained

describe('explain', () => {
  it('says of every value and the action which rule gave it and what it saw', async () => {
    expect(
      await explainJson('Nov 15 10:00:00 host sshd[1]: Failed password for root from 198.51.100.9 port 4711 ssh2'),
    ).toEqual({
      kind: 'text',
      action: { value: 'blocked', rule: 'text:blocked', saw: 'Failed password' },
      indicators: [
        {
          type: 'ip',
          value: '198.51.100.9',
          field: 'message',
          role: 'source',
          rule: 'text:word',
          saw: 'root from 198.51.100.9',
        },
      ],
    })
    expect(await explainJson('{"srcip":"192.0.2.1","action":"accept"}')).toEqual({
      kind: 'json',
      action: { value: 'allowed', rule: 'field:action', saw: 'accept' },
      indicators: [
        { type: 'ip', value: '192.0.2.1', field: 'srcip', role: 'source', rule: 'words:src+ip', saw: 'srcip' },
      ],
    })
  })

  it('takes a batch for its members and an envelope for the event in it', async () => {
    const member = (ip: string): string => `{"src_ip":"${ip}"}`
    const hec = `{"sourcetype":"fw","event":${member('192.0.2.3')}}`
    const lines = await run(`{"records":[${member('192.0.2.1')},${member('192.0.2.2')}]}\n${hec}\n`, { json: true })
    const found = lines.trimEnd().split('\n')
    expect(found.map((line) => (JSON.parse(line) as Explained).indicators.map(({ value }) => value))).toEqual([
      ['192.0.2.1'],
      ['192.0.2.2'],
      ['192.0.2.3'],
    ])
  })

  it('names the format, and does not claim to have seen what the format alone says', async () => {
    const found = await explainJson(
      '%ASA-6-302013: Built outbound TCP connection 1 for outside:203.0.113.20/443 (203.0.113.20/443) to inside:192.0.2.3/52000 (198.51.100.7/52000)',
    )
    expect(found).toMatchObject({ format: 'cisco-asa', action: { rule: 'format:cisco-asa.built-outbound' } })
    expect(found.action).not.toHaveProperty('saw')
    expect(found.indicators[0]).toMatchObject({ role: 'destination', rule: 'format:cisco-asa.built-outbound' })
  })

  it('marks values and the word of the action in colour on a terminal, and only there', async () => {
    const line = 'action=deny src=192.0.2.7 dst=10.0.0.5'
    const marked = 'action=\u001b[1mdeny\u001b[0m src=\u001b[33m192.0.2.7\u001b[0m dst=\u001b[36m10.0.0.5\u001b[0m\n'
    expect(await run(`${line}\n`, { isTTY: true })).toContain(marked)
    expect(await run(`${line}\n`, { isTTY: true, env: { NO_COLOR: '1' } })).not.toContain('\u001b')
    const plain = await run(`${line}\n`)
    expect(plain).toMatch(/^action=deny src=192\.0\.2\.7 dst=10\.0\.0\.5\n {2}no format; read as pairs\n/)
    expect(plain).toMatch(/^ {2}192\.0\.2\.7 +source +words:src +src$/m)
    expect(plain).toMatch(/^ {2}action +blocked +field:action +deny$/m)
  })

  it('lets no control character of an event through to a terminal', async () => {
    expect(await run('src=192.0.2.7 \u001b]0;title\u0007 dst=10.0.0.5\n')).not.toMatch(/[\u001b\u0007]/)
  })
})

describe('explain with feeds', () => {
  const feeds = (): string => {
    const path = join(mkdtempSync(join(tmpdir(), 'explain-')), 'feed.txt')
    writeFileSync(path, '203.0.113.9\n')
    return JSON.stringify([
      { name: 'ours', path },
      { name: 'never', url: 'https://lists.example.com/never-asked' },
    ])
  }
  const line = 'action=allow src=10.0.0.5 dst=203.0.113.9'

  it('adds what they know about each value and which rules fire, and asks nobody', async () => {
    const env = { THREATWEAVE_FEEDS: feeds(), THREATWEAVE_GATE_DOCUMENTATION: 'true', THREATWEAVE_MEMORY_PATH: 'none' }
    expect(await explainJson(line, env)).toMatchObject({
      known: {
        verdict: 'malicious',
        values: [
          { value: '10.0.0.5', verdict: 'unknown', reason: 'private_address' },
          { value: '203.0.113.9', verdict: 'malicious', source: 'feed:ours', entry: '203.0.113.9' },
        ],
        rules: [{ title: 'Connection to Malicious Address or Name' }],
      },
    })
    expect(await run(`${line}\n`, { env })).toMatch(
      /203\.0\.113\.9 +malicious +feed:ours as 203\.0\.113\.9[\s\S]+rules that fire: Connection/,
    )
  })

  it('ends with the reason why no rule fires for something accused', async () => {
    const env = { THREATWEAVE_FEEDS: feeds(), THREATWEAVE_GATE_DOCUMENTATION: 'true', THREATWEAVE_MEMORY_PATH: 'none' }
    const scan = 'action=deny src=203.0.113.9 dst=10.0.0.5'
    expect(await explainJson(scan, env)).toMatchObject({ known: { rules: [], noAlert: { reason: 'blocked_inbound' } } })
    expect(await run(`${scan}\n`, { env })).toMatch(
      /no rule fires because the inbound connection was blocked \(blocked_inbound\)\n\n$/,
    )
    expect(await run('action=deny src=198.51.100.1 dst=10.0.0.5\n', { env })).toMatch(/rules that fire: none\n\n$/)
  })
})

describe('the worked example of docs/formats.md', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../../docs/formats.md'), 'utf8')
  const [, log = ''] = /```\n(<134>[\s\S]+?)```/.exec(page) ?? []
  const [, format = ''] = /```yaml\n(id: acme-gate[\s\S]+?)```/.exec(page) ?? []
  const path = join(mkdtempSync(join(tmpdir(), 'formats-')), 'acme-gate.yaml')
  writeFileSync(path, format)
  const read = (text: string): Explained[] =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Explained)

  it('reads the lines of the page as the page says, which nothing did before', async () => {
    const roles = ({ indicators }: Explained): string[] =>
      indicators.map(({ value, role, rule }) => `${value} ${role} ${rule}`)
    const found = read(await run(log, { json: true, env: { THREATWEAVE_EXTRACT_FORMATS: path } }))
    expect(found.map(roles)).toEqual([
      ['198.51.100.7 destination format:acme-gate', '192.0.2.10 source format:acme-gate'],
      ['198.51.100.8 destination format:acme-gate', '192.0.2.11 source format:acme-gate'],
    ])
    expect(found.map(({ format: id, action }) => ({ id, ...action }))).toEqual([
      { id: 'acme-gate', value: 'blocked', rule: 'format:acme-gate', saw: 'zapped' },
      { id: 'acme-gate', value: 'allowed', rule: 'format:acme-gate', saw: 'waved' },
    ])
    const before = read(await run(log, { json: true }))
    expect(before[0]).toMatchObject({ kind: 'text', action: { value: 'unknown' } })
  })
})
