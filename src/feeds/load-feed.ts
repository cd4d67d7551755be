// Reads, parses, checks and indexes one feed synchronously, so it should run in its own thread.
import { entriesIn } from '../domain/entry-counts.js'
import type { FileProblem } from '../domain/problem.js'
import { isNoteworthy, skippedIn, type SkipReason, type Skipped } from '../domain/skipped.js'
import { collect, type Collector } from './collect.js'
import { parserOf } from './detect.js'
import { addressOf, type ParseProblem, type Place, type PlacedFeed } from './feed.js'
import { maxFileBytes, readBytes } from './feed-file.js'
import { sizeOf, type FeedIndex } from './feed-index.js'
import { lineAt, readJson } from './json-text.js'
import { readManifest } from './misp.js'
import { pagesIn } from './fetch-pages.js'
import { statSync } from 'node:fs'
import { join } from 'node:path'

export type LoadRequest = { readonly feed: PlacedFeed; readonly now: number; readonly seed: number }

export type LoadResult =
  | {
      readonly ok: true
      readonly index: FeedIndex
      /** Epoch milliseconds of the most recently written file. */
      readonly modified: number
      /** Epoch milliseconds when the newest entry was seen or listed, if the list has dates. */
      readonly newestEntry?: number | undefined
      /** Counts of skipped entries. With the entries of the index, they add up to the whole file. */
      readonly skipped: Skipped
      /** The first skipped entries that need attention; if no entry was taken, the first of any kind. */
      readonly examples: readonly SkippedExample[]
    }
  | { readonly ok: false; readonly problem: FileProblem }

export type SkippedExample = FileProblem & { readonly why: SkipReason }

export const loadFeed = (request: LoadRequest): LoadResult => {
  const files = filesOf(request.feed)
  if (!files.ok) return files
  const read = readFiles(request, files)
  // Pages are read from newest to oldest. Everything is read twice only if a newer page contains an older version.
  const again = read.ok && read.collector.outdated().size > 0 ? read.collector.outdated() : undefined
  const all = again ? readFiles(request, files, again) : read
  return all.ok ? indexOf(request, all) : all
}

type ReadFiles =
  | {
      readonly ok: true
      readonly collector: Collector
      readonly examples: readonly SkippedExample[]
      readonly modified: number
    }
  | { readonly ok: false; readonly problem: FileProblem }

const readFiles = (
  { feed, now }: LoadRequest,
  files: Files & { ok: true },
  newest?: ReadonlyMap<string, number>,
): ReadFiles => {
  let modified = 0
  const collector = collect({ ...feed, now, modified: () => modified, isWhole: files.isPaged !== true, newest })
  const examples: SkippedExample[] = []
  let size = 0
  for (const path of files.list) {
    const read = readBytes(path)
    size += read.ok ? read.bytes.length : 0
    // Paged input is limited by its number of entries instead.
    if (size > maxFileBytes && files.isPaged !== true)
      return { ok: false, problem: { file: feed.path, message: `holds more than ${maxFileBytes} bytes when unpacked` } }
    if (!read.ok) return { ok: false, problem: { file: path, message: read.message } }
    modified = Math.max(modified, Math.min(read.modified, now))
    // An empty local file was emptied on purpose; an empty download is broken.
    if (path === feed.path && addressOf(feed) === undefined && isBlank(read.bytes)) continue
    const chosen = parserOf(read.bytes, feed.columns)
    const problem = 'parser' in chosen ? chosen.parser(read.bytes, collector) : chosen
    const why = problem ?? collector.refusal()
    if (why) return { ok: false, problem: at(path, read.bytes, why) }
    for (const example of collector.newExamples()) examples.push({ ...at(path, read.bytes, example), why: example.why })
  }
  return { ok: true, collector, examples, modified }
}

const isBlank = (bytes: Buffer): boolean => bytes.every((code) => code === 0x20 || (code >= 0x09 && code <= 0x0d))

const indexOf = (
  { feed, seed }: LoadRequest,
  { collector, examples, modified }: ReadFiles & { ok: true },
): LoadResult => {
  const unusable = unusableOf(collector)
  if (unusable !== undefined) {
    const first = examples.find(({ why }) => why === 'unusable' || why === 'broken') ?? examples[0]
    if (!first) return { ok: false, problem: { file: feed.path, message: unusable } }
    const { why: _, message, ...place } = first
    return { ok: false, problem: { ...place, message: `${message}; ${unusable}` } }
  }
  const index = collector.index(seed)
  const duplicate = collector.taken() - entriesIn(sizeOf(index))
  const skipped = { ...collector.skipped(), ...(duplicate > 0 && { duplicate }) }
  const newestEntry = collector.newestEntry()
  return { ok: true, index, modified, newestEntry, skipped, examples: inOrder(examples, collector.taken() === 0) }
}

/** These come first, because they point to errors; other entries are skipped by design. */
const order: readonly SkipReason[] = ['broken', 'too_broad', 'unusable']
const inOrder = (examples: readonly SkippedExample[], isEmpty: boolean): readonly SkippedExample[] => {
  const rank = ({ why }: SkippedExample): number => (order.includes(why) ? order.indexOf(why) : order.length)
  return examples
    .filter(({ why }) => isEmpty || isNoteworthy(why))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, maxShown)
}

const maxShown = 3

/** Why this cannot be the intended list: no entry is usable, or most lines are something else. */
const unusableOf = (collector: Collector): string | undefined => {
  const { unusable = 0, broken = 0, too_broad: tooBroad = 0, ...meant } = collector.skipped()
  const wrong = unusable + broken
  const total = wrong + tooBroad + skippedIn(meant) + collector.taken()
  if (collector.taken() === 0 && (wrong + tooBroad) * 2 > total)
    return `none of ${total} lines can be used: check that this is the list you mean`
  return wrong * 2 > total
    ? `${wrong} of ${total} lines are like this: check that this is the list you mean`
    : undefined
}

type Files =
  | { readonly ok: true; readonly list: readonly string[]; readonly isPaged?: boolean }
  | { readonly ok: false; readonly problem: FileProblem }

/** A directory is a MISP feed or a paged copy; its manifest names the files. */
const filesOf = ({ path }: PlacedFeed): Files => {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return { ok: true, list: [path] }
  const file = join(path, 'manifest.json')
  const refuse = (message: string): Files => ({ ok: false, problem: { file, message } })
  const read = readBytes(file)
  if (!read.ok) return refuse(read.message)
  const json = readJson(read.bytes)
  const pages = json.ok ? pagesIn(json.value) : undefined
  if (pages) return { ok: true, list: pages.map((name) => join(path, name)), isPaged: true }
  const manifest = readManifest(read.bytes)
  if (!manifest.ok) return refuse(manifest.message)
  return { ok: true, list: manifest.files.map((name) => join(path, name)) }
}

const at = (file: string, bytes: Buffer, { place, message }: ParseProblem): FileProblem => {
  const line = place === undefined ? undefined : lineOf(bytes, place)
  return { file, ...(line !== undefined && { line }), message }
}

const lineOf = (bytes: Buffer, place: Place): number | undefined => {
  if (typeof place === 'number') return place
  const offset = bytes.indexOf(JSON.stringify(place))
  return offset < 0 ? undefined : lineAt(bytes.toString('latin1', 0, offset), offset)
}
