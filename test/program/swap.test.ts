// A million entries through the compiled worker; processor time of the main thread, for other work on the machine is not ours.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import type * as OpenFeeds from '../../src/intel/feeds/open-feeds.js'
import { feedSettings, folder } from '../support/feed-files.js'

const built = resolve(import.meta.dirname, '../../dist/intel/feeds')
const isBuilt = existsSync(join(built, 'worker.js'))
const schedule = `/proc/self/task/${process.pid}/schedstat`
const mainThreadMs =
  isMainThread && existsSync(schedule)
    ? (): number => Number(readFileSync(schedule, 'utf8').split(' ')[0]) / 1e6
    : (): number => performance.now()

/** The longest that one turn of the event loop took while the work ran. */
const longestTurn = async (work: () => Promise<void>): Promise<number> => {
  let longest = 0
  let last = mainThreadMs()
  let isDone = false
  const turn = (): void => {
    const now = mainThreadMs()
    longest = Math.max(longest, now - last)
    last = now
    if (!isDone) setTimeout(turn, 1)
  }
  turn()
  await work()
  turn()
  isDone = true
  return longest
}

const entry = (i: number): string =>
  i % 2 === 0 ? `h${i.toString(36)}.example.com` : `${16 + (i % 80)}.${(i >>> 16) & 255}.${(i >>> 8) & 255}.${i & 255}`

describe('a feed of a million entries', () => {
  it.runIf(isBuilt)(
    'is parsed and indexed off the main thread, which the swap holds up for less than 10 ms',
    async () => {
      const { openFeeds } = (await import(pathToFileURL(join(built, 'open-feeds.js')).href)) as typeof OpenFeeds
      const path = join(folder(), 'feed.txt')
      const list = Array.from({ length: 1_000_000 }, (_, i) => entry(i))
      writeFileSync(path, list.slice(0, 600_000).join('\n'))
      const feeds = await openFeeds([feedSettings({ path })], { pollMs: 0 })
      onTestFinished(() => feeds.close())
      expect(feeds.match({ type: 'domain', value: entry(999_998) })).toBeUndefined()
      writeFileSync(path, list.join('\n'))
      const longest = await longestTurn(() => feeds.reload())
      expect(feeds.status()).toMatchObject([{ state: 'loaded', addresses: 500_000, names: 500_000 }])
      expect(feeds.match({ type: 'domain', value: entry(999_998) })?.facts.listings?.[0]?.entry).toBe(entry(999_998))
      expect(feeds.match({ type: 'ip', value: entry(999_999) })?.facts.listings?.[0]?.entry).toBe(entry(999_999))
      expect(longest).toBeLessThan(10)
    },
    120_000,
  )

  it.runIf(isBuilt)('stays in use when the thread refuses the new one', async () => {
    const { openFeeds } = (await import(pathToFileURL(join(built, 'open-feeds.js')).href)) as typeof OpenFeeds
    const path = join(folder(), 'feed.txt')
    writeFileSync(path, 'h1.example.com\n')
    const feeds = await openFeeds([feedSettings({ path })], { pollMs: 0 })
    onTestFinished(() => feeds.close())
    writeFileSync(path, 'co.uk\n')
    await feeds.reload()
    expect(feeds.status()).toMatchObject([{ state: 'kept', names: 1, problem: { file: path, line: 1 } }])
  })

  if (!isBuilt) it.skip('is not measured: dist/ is not built, run `npm run build`', () => undefined)
})
