// Feeds for tests: settings with defaults, files in temporary folders, and the results of the feed parser.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { parserOf } from '../../src/feeds/detect.js'
import type { SkipReason } from '../../src/domain/skipped.js'
import type { Columns, Details, FeedSettings, ParseProblem, Place, PlacedFeed, Sink } from '../../src/feeds/feed.js'

export const feedSettings = (given: Partial<FeedSettings> & { path: string }): PlacedFeed => ({
  name: 'ours',
  level: 'malicious',
  categories: [],
  ...given,
})

/** A temporary folder that is removed after the test. */
export const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'feeds-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export const feedFile = (content: string | Buffer, name = 'feed.txt'): string => {
  const path = join(folder(), name)
  writeFileSync(path, content)
  return path
}

/** A line that is skipped without a usable entry is listed by its place alone. */
type Parsed = {
  added: [string, Place, Details?][]
  skipped: (Place | [Place, SkipReason])[]
  problem?: ParseProblem
}

/** Parses the content in the format that it indicates. */
export const parsed = (content: string | Buffer, columns?: Columns): Parsed => {
  const found: Parsed = { added: [], skipped: [] }
  const met = new Set<string>()
  const sink: Sink = {
    add: (value, place, details) => {
      const said = Object.entries(details ?? {}).filter(([, value]) => value !== undefined && String(value) !== '')
      found.added.push(said.length > 0 ? [value, place, Object.fromEntries(said)] : [value, place])
      return true
    },
    isWhole: true,
    isNewest: (id) => !met.has(id) && met.add(id).has(id),
    skip: (place, why = 'unusable') => found.skipped.push(why === 'unusable' ? place : [place, why]) > 0,
  }
  const bytes = Buffer.from(content)
  const chosen = parserOf(bytes, columns)
  const problem = 'parser' in chosen ? chosen.parser(bytes, sink) : chosen
  return problem ? { ...found, problem } : found
}

/** Only the entries, without places and details. */
export const valuesIn = (content: string): string[] => parsed(content).added.map(([value]) => value)
