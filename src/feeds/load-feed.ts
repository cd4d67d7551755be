// Reads, parses, judges and indexes one feed, all at once and blocking: meant for a thread of its own.
import type { FileProblem } from '../domain/problem.js'
import { collect, type Collector, type Example, type Skipped } from './collect.js'
import { parserOf } from './detect.js'
import type { ParseProblem, Place, PlacedFeed } from './feed.js'
import { maxFileBytes, readBytes } from './feed-file.js'
import type { FeedIndex } from './feed-index.js'
import { lineAt } from './json-text.js'
import { readManifest } from './misp.js'
import { statSync } from 'node:fs'
import { join } from 'node:path'

export type LoadRequest = { readonly feed: PlacedFeed; readonly now: number; readonly seed: number }

export type LoadResult =
  | {
      readonly ok: true
      readonly index: FeedIndex
      /** Epoch milliseconds when the newest of the files was written. */
      readonly modified: number
      readonly skipped: Skipped
      /** The first of what was skipped, too broad entries before unusable lines. */
      readonly examples: readonly FileProblem[]
    }
  | { readonly ok: false; readonly problem: FileProblem }

export const loadFeed = ({ feed, now, seed }: LoadRequest): LoadResult => {
  let modified = 0
  const collector = collect({ ...feed, now, modified: () => modified })
  const examples: { readonly [why in Example['why']]: FileProblem[] } = { tooBroad: [], unusable: [] }
  const files = filesOf(feed)
  if (!files.ok) return files
  let size = 0
  for (const path of files.list) {
    const read = readBytes(path)
    size += read.ok ? read.bytes.length : 0
    if (size > maxFileBytes)
      return { ok: false, problem: { file: feed.path, message: `holds more than ${maxFileBytes} bytes when unpacked` } }
    if (!read.ok) return { ok: false, problem: { file: path, message: read.message } }
    modified = Math.max(modified, Math.min(read.modified, now))
    const chosen = parserOf(read.bytes)
    const problem = 'parser' in chosen ? chosen.parser(read.bytes, collector) : chosen
    const why = problem ?? collector.refusal()
    if (why) return { ok: false, problem: at(path, read.bytes, why) }
    for (const example of collector.newExamples()) examples[example.why].push(at(path, read.bytes, example))
  }
  const unusable = unusableOf(collector)
  if (unusable !== undefined) {
    const [first = { file: feed.path, message: '' }] = [...examples.unusable, ...examples.tooBroad]
    const message = first.message === '' ? unusable : `${first.message}; ${unusable}`
    return { ok: false, problem: { ...first, message } }
  }
  const shown = [...examples.tooBroad, ...examples.unusable].slice(0, maxShown)
  return { ok: true, index: collector.index(seed), modified, skipped: collector.skipped(), examples: shown }
}

const maxShown = 3

/** Why what was read is not the list that was meant: nothing of it can be used, or most of it is something else. */
const unusableOf = (collector: Collector): string | undefined => {
  const { unusable, tooBroad, other } = collector.skipped()
  const total = unusable + tooBroad + other + collector.taken()
  if (total === 0) return undefined
  if (collector.taken() === 0) return `none of ${total} lines can be used: check that this is the list you mean`
  return unusable * 2 > total
    ? `${unusable} of ${total} lines are like this: check that this is the list you mean`
    : undefined
}

type Files =
  { readonly ok: true; readonly list: readonly string[] } | { readonly ok: false; readonly problem: FileProblem }

/** A directory is a MISP feed: what its manifest names. */
const filesOf = ({ path }: PlacedFeed): Files => {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return { ok: true, list: [path] }
  const file = join(path, 'manifest.json')
  const refuse = (message: string): Files => ({ ok: false, problem: { file, message } })
  const read = readBytes(file)
  if (!read.ok) return refuse(read.message)
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
