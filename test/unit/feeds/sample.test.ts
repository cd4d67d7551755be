import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadFeed } from '../../../src/feeds/load-feed.js'
import { feedSettings } from '../../support/feed-files.js'

const samples = resolve(import.meta.dirname, '../../../examples/feeds')

describe('the sample feeds', () => {
  it.each(readdirSync(samples))('%s is taken whole', (name) => {
    const result = loadFeed({
      feed: feedSettings({ path: join(samples, name) }),
      now: Date.UTC(2026, 10, 15),
      seed: 7,
    })
    expect(result).toMatchObject({ ok: true, examples: [] })
  })
})
