// An event is one record as it was read: its bytes, untouched, and what they turned out to be.

/** How the bytes were read. Only `json` is a JSON object that an annotation can be spliced into. */
export const readings = [
  'json',
  'text',
  'broken_json',
  'json_array',
  'json_scalar',
  'too_deep',
  'too_large',
  'not_utf8',
  'empty',
] as const
export type Reading = (typeof readings)[number]

export type Event = {
  readonly bytes: Buffer
  readonly reading: Reading
  /** The bytes as text, without a byte order mark; of `not_utf8` what could be read, of `too_large` the first part. */
  readonly text: string
  readonly bom: boolean
  /** The object, exactly when the reading is `json`. */
  readonly value?: Readonly<Record<string, unknown>>
}
