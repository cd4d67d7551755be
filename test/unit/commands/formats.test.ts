// The `formats` command as it is typed.
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text as collect } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { formats } from '../../../src/commands/formats.js'
import type { Io } from '../../../src/terminal/command.js'

const run = async (positionals: string[], { json = false, env = {} } = {}) => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const io: Io = { env, stdin: Readable.from([]), stdout, stderr, signal: new AbortController().signal }
  // They are read while the command writes, which waits for its reader.
  const [out, err] = [collect(stdout), collect(stderr)]
  const code = await formats.run({ positionals, values: { json } }, io)
  stdout.end()
  stderr.end()
  return { code, out: await out, err: await err }
}

describe('formats', () => {
  it('shows an example and what is taken from it: addresses, names, their roles, the action', async () => {
    const { code, out } = await run(['bluecoat'])
    expect(code).toBe(0)
    expect(out.split('\n')).toEqual([
      'bluecoat',
      expect.stringMatching(/^ {2}2026-11-15 10:00:00 45 192\.0\.2\.1 /) as string,
      '    source       192.0.2.1',
      '    url          www.example.com',
      '    url          bad.example.com',
      '    observer     192.0.2.254',
      '    action       blocked',
      '',
    ])
  })

  it('lists every format that comes with the program', async () => {
    const { out } = await run([], { json: true })
    const ids = out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id)
    const files = readdirSync(resolve(import.meta.dirname, '../../../formats'))
    expect([...new Set(ids)].toSorted()).toEqual(files.map((file) => file.replace('.yaml', '')).toSorted())
  })

  it('lists those of the configuration too', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'formats-')), 'mine.yaml')
    writeFileSync(
      file,
      "id: mine\ncut: text\nline: '{*}zapped {source.ip} by'\nexample: { line: 'gate zapped 192.0.2.1 by rule', source.ip: 192.0.2.1 }\n",
    )
    const { out } = await run(['mine'], { env: { THREATWEAVE_EXTRACT_FORMATS: file } })
    expect(out).toBe('mine\n  gate zapped 192.0.2.1 by rule\n    source       192.0.2.1\n')
  })

  it('says that no format has the id', async () => {
    expect(await run(['no-such'])).toEqual({ code: 1, out: '', err: 'no format has the id no-such\n' })
  })
})
