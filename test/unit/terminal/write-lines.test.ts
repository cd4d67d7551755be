// What is written to terminals and files.
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Command, Io } from '../../../src/terminal/command.js'
import { extract } from '../../../src/commands/extract.js'
import { pipe } from '../../../src/commands/pipe/pipe.js'
import { someFeed } from '../../support/cli.js'

const event = '{"msg":"a\u009b31mb\u007fc\u202ed","src\u009bip":"192.0.2.1"}'

const run = async (command: Command, isTTY: boolean): Promise<string> => {
  const stdout = Object.assign(new PassThrough(), { isTTY })
  const stdin = new PassThrough()
  stdin.end(`${event}\n`)
  const io: Io = { env: {}, stdin, stdout, stderr: new PassThrough(), signal: new AbortController().signal }
  await command.run({ positionals: [], values: command === pipe ? { feed: [someFeed] } : { json: true } }, io)
  return String(stdout.read())
}

describe.each([
  ['pipe', pipe],
  ['extract', extract],
])('%s', (_, command) => {
  it('shows a terminal the escapes of control characters, and the same JSON', async () => {
    const shown = await run(command, true)
    expect(shown).not.toMatch(/[\u007f-\u009f\u202e]/)
    expect(shown).toContain('\\u009b')
    const told = JSON.parse(await run(command, false)) as object
    expect(JSON.parse(shown)).toEqual(told)
  })
})

describe('pipe', () => {
  it('writes every byte unchanged if it is not a terminal', async () => {
    expect(await run(pipe, false)).toContain(event.slice(0, -1))
  })
})
