// `pipe --alerts` refuses to overwrite files that are read.
import { linkSync, mkdtempSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { UsageError, type Io } from '../../../src/terminal/command.js'
import { pipe } from '../../../src/commands/pipe/pipe.js'

const folder = mkdtempSync(join(tmpdir(), 'overwriting-'))
const put = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const feed = put('feed.txt', 'bad.example.com\n')
const log = put('events.log', 'src=192.0.2.1 action=deny\n')
const config = put('threatweave.yaml', 'log: { level: error }\n')
symlinkSync(log, join(folder, 'soft.log'))
linkSync(log, join(folder, 'hard.log'))

const run = (
  alerts: string,
  positionals: string[],
  streams: { stdin?: string; stdout?: string } = {},
  env: Record<string, string> = {},
) => {
  const open = (path: string | undefined, flags: string): PassThrough =>
    Object.assign(new PassThrough(), path === undefined ? {} : { fd: openSync(path, flags) })
  const io: Io = {
    env,
    stdin: open(streams.stdin, 'r'),
    stdout: open(streams.stdout, 'a').resume(),
    stderr: new PassThrough(),
    signal: new AbortController().signal,
  }
  io.stdin.push(null)
  return pipe.run({ positionals, values: { alerts, config, feed: [feed] } }, io)
}

describe('pipe --alerts', () => {
  it.each([
    ['the input itself', log, [log], {}, 'the input'],
    ['a link to the input', join(folder, 'soft.log'), [log], {}, 'the input'],
    ['another name of the input', join(folder, 'hard.log'), ['-', log], {}, 'the input'],
    ['what standard input was taken from', log, [], { stdin: log }, 'the input'],
    ['where standard output goes', log, [feed], { stdout: log }, 'the annotated events'],
    ['a feed', feed, [log], {}, 'the feed feed'],
    ['the configuration', config, [log], {}, 'the configuration'],
  ])('refuses %s and leaves it as it is', async (_, target, input, streams, what) => {
    const before = readFileSync(target, 'utf8')
    await expect(run(target, input, streams)).rejects.toThrow(
      new UsageError(`--alerts ${target} would overwrite ${what}; name another file`),
    )
    expect(readFileSync(target, 'utf8')).toBe(before)
  })

  it('overwrites earlier alerts, and writes to targets that are not files', async () => {
    const alerts = put('alerts.ndjson', 'of the last time\n')
    expect(await run(alerts, [log])).toBe(0)
    expect(readFileSync(alerts, 'utf8')).toBe('')
    expect(await run('/dev/null', [log])).toBe(0)
  })

  it('keeps the existing alerts if the rules are refused', async () => {
    const alerts = put('kept.ndjson', 'of the last time\n')
    await expect(run(alerts, [log], {}, { THREATWEAVE_ALERTS_RULES: join(folder, 'nosuch') })).rejects.toThrow(
      'alerts.rules',
    )
    expect(readFileSync(alerts, 'utf8')).toBe('of the last time\n')
  })
})
