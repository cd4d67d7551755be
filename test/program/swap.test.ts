// A large feed through the compiled worker thread.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type * as OpenFeeds from '../../src/feeds/open-feeds.js'
import { root } from '../support/cli.js'
import { feedSettings, folder } from '../support/feed-files.js'

const { openFeeds } = (await import(pathToFileURL(join(root, 'dist/feeds/open-feeds.js')).href)) as typeof OpenFeeds

const entry = (i: number): string =>
  i % 2 === 0 ? `h${i.toString(36)}.example.com` : `${16 + (i % 80)}.${(i >>> 16) & 255}.${(i >>> 8) & 255}.${i & 255}`

describe('a feed of 200,000 entries', () => {
  it('is parsed and indexed off the main thread, which goes on meanwhile', async () => {
    const path = join(folder(), 'feed.txt')
    const list = Array.from({ length: 200_000 }, (_, i) => entry(i))
    writeFileSync(path, list.slice(0, 120_000).join('\n'))
    const feeds = await openFeeds([feedSettings({ path })], { pollMs: 0 })
    onTestFinished(() => feeds.close())
    expect(feeds.match({ type: 'domain', value: entry(199_998) })).toBeUndefined()
    writeFileSync(path, list.join('\n'))
    let turns = 0
    const turning = setInterval(() => turns++, 1)
    await feeds.reload()
    clearInterval(turning)
    expect(feeds.status()).toMatchObject([{ state: 'loaded', addresses: 100_000, names: 100_000 }])
    expect(feeds.match({ type: 'domain', value: entry(199_998) })?.facts.listings?.[0]?.entry).toBe(entry(199_998))
    expect(feeds.match({ type: 'ip', value: entry(199_999) })?.facts.listings?.[0]?.entry).toBe(entry(199_999))
    // Parsed on the main thread it would turn once or twice.
    expect(turns).toBeGreaterThan(10)
  })

  it('stays in use when the thread refuses the new one', async () => {
    const path = join(folder(), 'feed.txt')
    writeFileSync(path, 'h1.example.com\n')
    const feeds = await openFeeds([feedSettings({ path })], { pollMs: 0 })
    onTestFinished(() => feeds.close())
    writeFileSync(path, 'co.uk\n')
    await feeds.reload()
    expect(feeds.status()).toMatchObject([{ state: 'kept', names: 1, problem: { file: path, line: 1 } }])
  })
})
