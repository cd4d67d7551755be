// The public lists for a start: each is a feed of the settings, and is read in the shape that its maker documents.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { load } from '../../../src/config/load.js'
import { starterLists } from '../../../src/config/starter-file.js'
import { sizeOf } from '../../../src/feeds/feed-index.js'
import { entriesIn } from '../../../src/domain/entry-counts.js'
import { loadFeed } from '../../../src/feeds/load-feed.js'
import { folder } from '../../support/feed-files.js'
import { runCommand } from '../../support/run-command.js'

const lists = starterLists()

/** A few lines in the shape of each list, with addresses and names of our own. */
const samples: Readonly<Record<string, readonly [content: string, entries: number, leftOut: number]>> = {
  'spamhaus-drop': [
    '{"cidr":"198.51.100.0/24","sblid":"SBL100001","rir":"apnic"}\n{"cidr":"203.0.113.0/24","sblid":"SBL100002","rir":"ripencc"}\n{"type":"metadata","timestamp":1794700000,"size":90,"records":2,"copyright":"x","terms":"x"}\n',
    2,
    0,
  ],
  'spamhaus-drop-v6': [
    '{"cidr":"2001:db8:1::/48","sblid":"SBL100003","rir":"ripencc"}\n{"type":"metadata","timestamp":1794700000,"size":60,"records":1,"copyright":"x","terms":"x"}\n',
    1,
    0,
  ],
  'phishing-database': ['bad.example.com\nlogin.bad.example.net\n', 2, 0],
  openphish: ['https://bad.example.com/login\nhttp://198.51.100.7/a?b=c,d\n', 2, 0],
  ipsum: [
    '# IPsum Threat Intelligence Feed\n#\n# IP\tnumber of (black)lists\n#\n198.51.100.7\t9\n198.51.100.8\t3\n198.51.100.9\t2\n',
    2,
    1,
  ],
  dshield: [
    '#   DShield.org Recommended Block List\n#   columns (tab delimited):\n#\nStart\tEnd\tNetblock\tAttacks\tName\tCountry\temail\n198.51.100.0\t198.51.100.255\t24\t7000\tEXAMPLE-NET\tDE\tabuse@example.com\n203.0.113.0\t203.0.113.255\t24\t6000\t\t\t\n',
    2,
    0,
  ],
  'tor-exits': ['198.51.100.7\n203.0.113.9\n', 2, 0],
}

describe('the starter lists', () => {
  it('are feeds that a configuration takes', () => {
    const feeds = lists.map(({ feed }) => feed)
    const text = stringify({ feeds })
    const loaded = load({ file: { name: 'starter', text }, env: {}, readFile: () => '' })
    expect(loaded).toMatchObject({ config: { feeds } })
    expect(new Set(feeds.map(({ name }) => name)).size).toBe(feeds.length)
  })

  it.each(lists)('$feed.name is fetched over https without an account, and says on which terms', (list) => {
    expect(list.feed.url).toMatch(/^https:/)
    expect(list.terms).toMatch(/^https:/)
    expect(list.feed).not.toHaveProperty('headersFile')
    expect(list.feed.refreshMinutes).toBeGreaterThanOrEqual(60)
  })

  it.each(lists)('$feed.name is read as its maker publishes it', ({ feed }) => {
    const [content, entries, leftOut] = samples[feed.name] ?? ['', -1, -1]
    const path = join(folder(), feed.name)
    writeFileSync(path, content)
    const result = loadFeed({ feed: { ...feed, path }, now: Date.UTC(2026, 10, 15), seed: 7 })
    expect(result).toMatchObject({ ok: true, examples: [] })
    if (!result.ok) return
    expect(entriesIn(sizeOf(result.index))).toBe(entries)
    expect(result.skipped).toEqual(leftOut === 0 ? {} : { low_score: leftOut })
  })

  it('are shown by feeds starter, with their licence', async () => {
    const { code, stdout, stderr } = await runCommand(['feeds', 'starter'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const { feed } of lists) expect(stdout).toContain(`${feed.name}\n  `)
    for (const { licence } of lists) expect(stdout).toContain(licence)
    const { stdout: json } = await runCommand(['feeds', 'starter', '--json'])
    expect(
      json
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toEqual(lists.map(({ feed, about, licence, terms }) => ({ ...feed, about, licence, terms })))
  })
})
