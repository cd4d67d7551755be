import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { feeds } from '../../../src/commands/feeds.js'
import { feedFile, folder } from '../../support/feed-files.js'
import { listOf, startListServer } from '../../support/list-server.js'

/** `opsPort`: where a run answers. */
const run = async (
  settings: object[],
  json: boolean,
  memory = folder(),
  opsPort?: string,
): Promise<{ code: number; out: string }> => {
  const stdout = new PassThrough()
  const code = await feeds.run(
    { positionals: [], values: { json } },
    {
      env: {
        THREATWEAVE_FEEDS: JSON.stringify(settings),
        THREATWEAVE_MEMORY_PATH: memory,
        ...(opsPort === undefined ? { THREATWEAVE_OPS_ENABLED: 'false' } : { THREATWEAVE_OPS_PORT: opsPort }),
      },
      stdin: new PassThrough(),
      stdout,
      stderr: new PassThrough(),
      signal: new AbortController().signal,
    },
  )
  return { code, out: String(stdout.read() ?? '') }
}

describe('feeds', () => {
  it('shows entries, what was skipped, the next fetch and the last error, which a later look still shows', async () => {
    const server = await startListServer(listOf('bad.example.com\n198.51.100.7\nno entry\n'))
    const memory = folder()
    const settings = [
      { name: 'ours', path: feedFile('198.51.100.0/24\n10.0.0.1\n') },
      { name: 'theirs', url: server.url },
      { name: 'gone', url: `${server.url.replace(/:\d+$/, ':1')}/list` },
    ]
    for (let look = 0; look < 2; look++) {
      const { code, out } = await run(settings, true, memory)
      const rows = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
      expect(rows).toMatchObject([
        { feed: 'ours', state: 'loaded', addresses: 1, names: 0, skipped: { too_broad: 1 } },
        { feed: 'theirs', state: 'loaded', addresses: 1, names: 1, skipped: { unusable: 1 } },
        { feed: 'gone', state: 'missing', error: expect.stringContaining('ECONNREFUSED') as string },
      ])
      expect(rows[1]).toHaveProperty('next_fetch')
      expect(code).toBe(1)
    }
    expect(server.asked).toHaveLength(1)
  })

  it('shows a table, and says when there is none', async () => {
    const { code, out } = await run([{ name: 'ours', path: feedFile('198.51.100.7') }], false)
    expect(out).toMatch(/^feed +state +addresses.+\n-.+\nours +loaded +1 +0 +0 +0 +0 +0 min\n$/)
    expect(code).toBe(0)
    const some = await run([{ name: 'ours', path: feedFile('198.51.100.7\n198.51.100.7\n/gate.php\n') }], false)
    expect(some.out).toContain(
      '\nours: 2 skipped: 1 not_looked_up (a type that is not supported), 1 duplicate (listed before)\n',
    )
    const empty = await run([{ name: 'ours', path: feedFile('# none\n') }], false)
    expect(empty.out).toMatch(/^ours +empty +0 +0 +0 +0 +0 /m)
    expect((await run([], false)).out).toBe('no feeds are configured\n')
  })

  it('shows what a run has counted of each feed, where one answers', async () => {
    const metrics = [
      'threatweave_feed_entries_seen{feed="ours"} 2',
      'threatweave_feed_events_total{feed="ours"} 40',
      'threatweave_feed_events_held_back_total{feed="ours"} 3',
      'threatweave_feed_alerts_total{feed="ours"} 5',
      'threatweave_feed_only_alerts_total{feed="ours"} 4',
      'threatweave_feed_listed_ratio{feed="ours"} 0.025',
      'threatweave_feed_entries{feed="ours",type="ip"} 1',
    ]
    const server = await startListServer(listOf(metrics.join('\n')))
    const list = [{ name: 'ours', path: feedFile('value,last_seen\n198.51.100.7,2026-01-01\n') }]
    const port = new URL(server.url).port
    const json = JSON.parse((await run(list, true, folder(), port)).out) as Record<string, unknown>
    expect(json).toMatchObject({
      newest_entry: '2026-01-01T00:00:00Z',
      entries_seen: 2,
      events: 40,
      events_held_back: 3,
      alerts: 5,
      only_alerts: 4,
      listed_ratio: 0.025,
    })
    const { out } = await run(list, false, folder(), port)
    expect(out).toMatch(/\nours +2 +40 +3 +5 +4 +2\.5 %\n$/)
  })
})
