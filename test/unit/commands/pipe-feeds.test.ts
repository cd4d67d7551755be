// Feeds that cannot be loaded, as `pipe` and the library meet them.
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { UsageError, type Io } from '../../../src/terminal/command.js'
import { ConfigurationError } from '../../../src/config/problem.js'
import { pipe } from '../../../src/commands/pipe/pipe.js'
import { withArguments } from '../../../src/commands/pipe/pipe-options.js'
import { createEnricher } from '../../../src/index.js'

const folder = mkdtempSync(join(tmpdir(), 'pipe-feeds-'))
const log = join(folder, 'events.log')
writeFileSync(log, 'src=192.0.2.1 action=deny\n')
const good = join(folder, 'good.txt')
writeFileSync(good, 'bad.example.com\n')
const bad = join(folder, 'bad.txt')
writeFileSync(bad, '10.0.0.1\nco.uk\n')
const why =
  '"10.0.0.1" lies in or around the special range 10.0.0.0/8 (private use); none of 2 lines can be used: check that this is the list you mean'

const run = async (feed: string[], configured: string[], env: Record<string, string> = {}) => {
  const stdout = new PassThrough()
  const io: Io = {
    env: {
      THREATWEAVE_FEEDS: JSON.stringify(configured.map((path, place) => ({ name: `own-${place}`, path }))),
      THREATWEAVE_MEMORY_PATH: 'none',
      ...env,
    },
    stdin: new PassThrough(),
    stdout,
    stderr: new PassThrough().resume(),
    signal: new AbortController().signal,
  }
  const alerts = join(folder, 'alerts.ndjson')
  const ended = await pipe.run({ positionals: [log], values: { alerts, feed } }, io).catch((error: unknown) => error)
  return { ended, wrote: stdout.readableLength > 0 || existsSync(alerts) }
}

describe('pipe', () => {
  it.each([
    [[bad], [], `--feed ${bad} is refused: ${why} (${bad}:1)`],
    [[good, bad], [good], `--feed ${bad} is refused: ${why} (${bad}:1)`],
  ])('does not begin where a feed of the command line is refused: %j', async (feed, configured, sentence) => {
    expect(await run(feed, configured)).toEqual({ ended: new UsageError(sentence), wrote: false })
  })

  it('refuses to start if a feed of the command line is missing', async () => {
    const { ended, wrote } = await run(['nosuch'], [])
    expect(ended).toBeInstanceOf(UsageError)
    expect(String(ended)).toContain('--feed nosuch is refused:')
    expect(wrote).toBe(false)
  })

  it('refuses to start if every feed is empty and there is no provider', async () => {
    const empty = join(folder, 'empty.txt')
    writeFileSync(empty, '# nothing yet\n')
    const { ended, wrote } = await run([empty], [])
    expect(String(ended)).toContain('no feed has an entry')
    expect(ended).toBeInstanceOf(UsageError)
    expect(wrote).toBe(false)
  })

  it('names a feed of the command line after its file, and distinguishes two of the same name', () => {
    const same = join(mkdtempSync(join(folder, 'more-')), 'good.csv')
    writeFileSync(same, 'value\nworse.example.com\n')
    const config = { feeds: [{ name: 'good' }] } as unknown as Parameters<typeof withArguments>[0]
    const named = withArguments(config, {
      positionals: [],
      values: { feed: [good, same, '/x/.hidden', 'my list.txt.gz'] },
    })
    expect(named.feeds.map(({ name }) => name)).toEqual(['good', 'good-2', 'good-3', 'hidden', 'my-list'])
  })

  it('refuses to start if no configured feed can be used and there is no provider', async () => {
    const { ended, wrote } = await run([], [bad, 'nosuch'])
    expect(ended).toBeInstanceOf(ConfigurationError)
    expect(String(ended)).toContain(`feeds.0 names the feed own-0, which is refused: ${why} (${bad}:1)`)
    expect(wrote).toBe(false)
  })

  it.each([
    ['another feed', [good, bad], {}],
    ['a service', [bad], { THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key' }],
  ])('goes on without a feed of the configuration where there is %s', async (_, configured, env) => {
    expect(await run([], configured, env)).toEqual({ ended: 0, wrote: true })
  })
})

describe('createEnricher', () => {
  it('rejects if a feed cannot be loaded', async () => {
    await expect(createEnricher({ settings: { feeds: [{ name: 'mine', path: bad }] } })).rejects.toThrow(
      `threatweave: feeds.0 names the feed mine, which is refused: ${why} (${bad}:1)`,
    )
  })
})
