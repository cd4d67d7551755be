// An event is one record as it was read: its bytes, untouched, and what they turned out to be.
import type { Reading } from '../domain/reading.js'

export { readings, type Reading } from '../domain/reading.js'

export type Event = {
  readonly bytes: Buffer
  readonly reading: Reading
  /** The bytes as text, without a byte order mark; of `not_utf8` what could be read, of `too_large` the first part. */
  readonly text: string
  readonly bom: boolean
  /** The object, exactly when the reading is `json`. */
  readonly value?: Readonly<Record<string, unknown>>
}
