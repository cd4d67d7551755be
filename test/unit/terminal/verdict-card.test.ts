import { expect, it } from 'vitest'
import type { Listing } from '../../../src/domain/finding.js'
import { renderCard, renderJson } from '../../../src/terminal/verdict-card.js'

const listings: readonly Listing[] = [
  { feed: 'a', entry: '198.51.100.7', level: 'malicious', score: 80, categories: [], since: Date.UTC(2026, 2, 4) },
  { feed: 'b', entry: '198.51.100.0/24', level: 'flag', categories: [], copyAt: Date.UTC(2026, 10, 15, 8) },
]

const shown = {
  indicator: { type: 'ip', value: '198.51.100.7' },
  verdict: { level: 'malicious', flags: {}, because: 'listed' },
  finding: { status: 'known', facts: { flags: {}, categories: [], listings }, source: 'feed:a', at: 0 },
} as const

it('says since when each feed lists the value, and whether the list states it', () => {
  const card = renderCard(shown, false)
  expect(card.split('\n').filter((line) => line.startsWith('  listed'))).toEqual([
    '  listed    in a as 198.51.100.7: malicious, score 80, since 2026-03-04 by its own date',
    '  listed    in b as 198.51.100.0/24: safeguarded, in the copy of 2026-11-15 08:00 UTC, which has no dates',
  ])
})

it('prints what each feed says as JSON, once, without how it is kept', () => {
  const text = renderJson(shown)
  expect(JSON.parse(text)).toMatchObject({
    listed: [
      { feed: 'a', entry: '198.51.100.7', score: 80, since: '2026-03-04T00:00:00.000Z', since_by: 'entry' },
      { feed: 'b', since: '2026-11-15T08:00:00.000Z', since_by: 'copy' },
    ],
    facts: { flags: {}, categories: [] },
  })
  expect(text).not.toMatch(/copyAt|listings/)
})

it('says country and network where a database does, and neither where none does', () => {
  const geo = { country: 'NL', as: { number: 64_500, name: 'EXAMPLE-HOSTING' } }
  expect(renderCard({ ...shown, geo }, false)).toContain('  country   NL\n  network   AS64500 EXAMPLE-HOSTING\n')
  expect(JSON.parse(renderJson({ ...shown, geo }))).toMatchObject(geo)
  expect(renderCard(shown, false)).not.toMatch(/country|network/)
  expect(JSON.parse(renderJson(shown))).not.toHaveProperty('country')
})
