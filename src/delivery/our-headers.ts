// The headers in which we record the origin and fate of a record; they are stripped from the input, where a producer could forge them.
import { formatHeader } from '../pipeline/batch/read-written.js'
import type { Header } from '../kafka/wire/record.js'

const names: ReadonlySet<string> = new Set([
  ...['topic', 'partition', 'offset', 'member', 'timestamp', 'reason', 'time', 'size', 'sha256', 'correction'].map(
    (name) => `threatweave-${name}`,
  ),
  formatHeader,
])

/** Compares in any case, because some consumers ignore case. */
const isOurs = ([name]: Header): boolean => names.has(name) || names.has(name.toLowerCase())

export const hasOurHeaders = (headers: readonly Header[]): boolean => headers.length > 0 && headers.some(isOurs)

export const withoutOurHeaders = (headers: readonly Header[]): readonly Header[] =>
  hasOurHeaders(headers) ? headers.filter((header) => !isOurs(header)) : headers
