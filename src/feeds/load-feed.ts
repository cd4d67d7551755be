// Reads, parses, judges and indexes one feed, all at once and blocking: meant for a thread of its own.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { collect, type Collector } from './collect.js'
import { parserOf } from './detect.js'
import type { FeedFormat, FeedProblem, FeedSettings, ParseProblem, Parser, Place } from './feed.js'
import type { FeedIndex } from './feed-index.js'
import { lineAt } from './json-text.js'
import { parseMisp, readManifest } from './misp.js'
import { readBytes } from './read-bytes.js'

export type LoadRequest = {
  readonly feed: FeedSettings
  /** Lets documentation addresses be listed, for samples and demonstrations. */
  readonly documentation: boolean
  readonly now: number
  readonly seed: number
}

export type LoadResult =
  | {
      readonly ok: true
      readonly index: FeedIndex
      /** Epoch milliseconds when the newest of the files was written. */
      readonly modified: number
      /** Lines and entries that were left out, and the first of them. */
      readonly skipped: number
      readonly first?: FeedProblem
    }
  | { readonly ok: false; readonly problem: FeedProblem }

/** One line in a hundred may be junk, and one in any file: more than that, and it is not the file that was meant. */
const junkShare = 100

export const loadFeed = ({ feed, documentation, now, seed }: LoadRequest): LoadResult => {
  let modified = 0
  const collector = collect({ ...feed, documentation, now, modified: () => modified })
  let first: FeedProblem | undefined
  const files = filesOf(feed)
  if (!files.ok) return files
  for (const { path, parser: known } of files.list) {
    const read = readBytes(path)
    if (!read.ok) return { ok: false, problem: { file: path, message: read.message } }
    modified = Math.max(modified, Math.min(read.modified, now))
    const chosen = known ? { parser: known } : parserOf(read.bytes, path, feed)
    const problem = 'parser' in chosen ? chosen.parser(read.bytes, collector, feed.columns) : chosen
    const why = problem ?? collector.refusal()
    if (why) return { ok: false, problem: at(path, read.bytes, why) }
    const { first: complaint } = collector.left()
    if (complaint) first ??= at(path, read.bytes, complaint)
  }
  const { junk, dangerous } = collector.left()
  if (first && isTooMuch(junk, collector))
    return { ok: false, problem: { ...first, message: `${first.message}, and so it is with ${junk} of its lines` } }
  return { ok: true, index: collector.index(seed), modified, skipped: junk + dangerous, ...(first && { first }) }
}

const isTooMuch = (junk: number, collector: Collector): boolean =>
  junk > 0 && (collector.taken() === 0 || (junk > 1 && junk * junkShare > collector.taken() + junk))

type Files =
  | { readonly ok: true; readonly list: readonly { readonly path: string; readonly parser?: Parser }[] }
  | { readonly ok: false; readonly problem: FeedProblem }

const directoryFormats: readonly FeedFormat[] = ['auto', 'misp']

const filesOf = ({ path, format }: FeedSettings): Files => {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return { ok: true, list: [{ path }] }
  const file = join(path, 'manifest.json')
  const refuse = (message: string): Files => ({ ok: false, problem: { file, message } })
  if (!directoryFormats.includes(format)) return { ok: false, problem: { file: path, message: 'is a directory' } }
  const read = readBytes(file)
  if (!read.ok) return refuse(read.message)
  const manifest = readManifest(read.bytes)
  if (!manifest.ok) return refuse(manifest.message)
  return { ok: true, list: manifest.files.map((name) => ({ path: join(path, name), parser: parseMisp })) }
}

const at = (file: string, bytes: Buffer, { place, message }: ParseProblem): FeedProblem => {
  const line = place === undefined ? undefined : lineOf(bytes, place)
  return { file, ...(line !== undefined && { line }), message }
}

const lineOf = (bytes: Buffer, place: Place): number | undefined => {
  if (typeof place === 'number') return place
  const offset = bytes.indexOf(JSON.stringify(place))
  return offset < 0 ? undefined : lineAt(bytes.toString('latin1', 0, offset), offset)
}
