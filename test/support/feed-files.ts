// Feeds for tests: settings with defaults, files in a folder of their own, and what a parser hands over.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Columns, Details, FeedSettings, Parser, Place } from '../../src/feeds/feed.js'

export const feedSettings = (given: Partial<FeedSettings> & { path: string }): FeedSettings => ({
  name: 'ours',
  format: 'auto',
  level: 'malicious',
  categories: [],
  columns: {},
  onBadEntry: 'refuse',
  ...given,
})

/** A folder that is gone after the test. */
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

type Parsed = { added: [string, Place, Details?][]; junk: Place[]; problem?: { place?: Place; message: string } }

export const parsed = (parser: Parser, content: string | Buffer, columns: Columns = {}): Parsed => {
  const found: Parsed = { added: [], junk: [] }
  const problem = parser(
    Buffer.from(content),
    {
      add: (value, place, details) => {
        const said = Object.entries(details ?? {}).filter(([, value]) => value !== undefined)
        found.added.push(said.length > 0 ? [value, place, Object.fromEntries(said)] : [value, place])
        return true
      },
      junk: (place) => found.junk.push(place) > 0,
    },
    columns,
  )
  return problem ? { ...found, problem } : found
}
