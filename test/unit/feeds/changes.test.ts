import { describe, expect, it } from 'vitest'
import { changesBetween } from '../../../src/feeds/changes.js'
import { collect } from '../../../src/feeds/collect.js'
import type { Details } from '../../../src/feeds/feed.js'
import type { FeedIndex } from '../../../src/feeds/feed-index.js'

const indexOf = (entries: Readonly<Record<string, Details>>): FeedIndex => {
  const collector = collect({ categories: [], modified: () => 0, now: 0 })
  for (const [value, details] of Object.entries(entries)) collector.add(value, 1, details)
  return collector.index(7)
}

describe('changesBetween', () => {
  it('names what was added and removed, of every type', () => {
    const before = indexOf({ '198.51.100.0/24': {}, 'bad.example.com': {}, '2001:db8::1': {} })
    const after = indexOf({ '198.51.100.7': {}, 'bad.example.com': {}, 'https://bad.example.net/x': {} })
    expect(changesBetween({ index: before, now: 1000 }, { index: after, now: 2000 })).toEqual({
      added: ['198.51.100.7', 'bad.example.net/x'],
      removed: ['198.51.100.0/24', '2001:db8::1'],
      becameValid: [],
      expired: [],
    })
  })

  it('names what became valid and what expired while nothing was fetched', () => {
    const index = indexOf({ '198.51.100.7': { since: 5000 }, 'bad.example.com': { expires: 5000 }, '198.51.100.8': {} })
    expect(changesBetween({ index, now: 4000 }, { index, now: 6000 })).toEqual({
      added: [],
      removed: [],
      becameValid: ['198.51.100.7'],
      expired: ['bad.example.com'],
    })
  })
})
