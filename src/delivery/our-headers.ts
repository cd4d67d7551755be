// The headers that say where a record of ours is from, and what became of it: whoever writes to the input must not be able to.
import { formatHeader } from '../pipeline/batch/read-written.js'
import type { Header } from '../kafka/wire/record.js'

const names: ReadonlySet<string> = new Set([
  ...['topic', 'partition', 'offset', 'member', 'timestamp', 'reason', 'time', 'size', 'sha256', 'correction'].map(
    (name) => `threatweave-${name}`,
  ),
  formatHeader,
])

/** In any case: some readers ignore it. */
const isOurs = ([name]: Header): boolean => names.has(name) || names.has(name.toLowerCase())

export const hasOurHeaders = (headers: readonly Header[]): boolean => headers.length > 0 && headers.some(isOurs)

export const withoutOurHeaders = (headers: readonly Header[]): readonly Header[] =>
  hasOurHeaders(headers) ? headers.filter((header) => !isOurs(header)) : headers
