// Message and exit code of an interrupted command.
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setImmediate as breathe } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Command, Io } from '../../../src/terminal/command.js'
import { unlessStopped } from '../../../src/terminal/report-stop.js'
import { estimate } from '../../../src/commands/estimate.js'
import { extract } from '../../../src/commands/extract.js'
import { pipe } from '../../../src/commands/pipe/pipe.js'
import { someFeed } from '../../support/cli.js'

/** Runs a command over an input that never ends, and stops it once it has seen two events. */
const stop = async (command: Command, signal: string): Promise<{ code: number; out: string; err: string }> => {
  const stopping = new AbortController()
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const io: Io = { env: {}, stdin, stdout, stderr, signal: stopping.signal }
  const code = command.run({ positionals: [], values: command === pipe ? { feed: [someFeed] } : {} }, io)
  stdin.write('src=192.0.2.1 action=deny\nsrc=192.0.2.2 action=deny\n')
  if (command === estimate) for (let turn = 0; turn < 100 || stdin.readableLength > 0; turn++) await breathe()
  else await once(stdout, 'readable')
  stopping.abort(signal)
  return { code: await code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') }
}

describe.each([
  ['pipe', pipe],
  ['extract', extract],
  ['estimate', estimate],
])('%s that is told to stop', (_, command) => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('says how far it came and ends as the shell expects after %s', async (signal, code) => {
    const ended = await stop(command, signal)
    expect(ended.err).toContain('threatweave: stopped after 2 events\n')
    expect(ended.code).toBe(code)
    expect(ended.out).not.toBe('')
  })
})

describe('unlessStopped', () => {
  it('waits for the work, and no longer than until the signal', async () => {
    const stopping = new AbortController()
    expect(await unlessStopped(Promise.resolve(7), stopping.signal)).toBe(7)
    const waiting = unlessStopped(new Promise(() => undefined), stopping.signal)
    stopping.abort('SIGINT')
    expect(await waiting).toBeUndefined()
  })
})
