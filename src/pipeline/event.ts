// An event is one record as it was read: its bytes, untouched, and what they turned out to be.
import type { Reading } from '../domain/reading.js'
import type { Extraction } from '../domain/sighting.js'

export { readings, type Reading } from '../domain/reading.js'

export type Event = {
  readonly bytes: Buffer
  readonly reading: Reading
  /** The bytes as text, without a byte order mark; of `not_utf8` what could be read, of `too_large` the first part. */
  readonly text: string
  readonly bom: boolean
  /** The object, exactly when the reading is `json`. */
  readonly value?: Readonly<Record<string, unknown>> | undefined
  /** The names at the top of the object, exactly when the reading is `json`. */
  readonly names?: readonly string[] | undefined
  /** Whether one of the names would be taken for our annotation, where that was looked at while the event was read. */
  readonly holdsOurs?: boolean | undefined
  /** What was seen in the event while it was read, where that was done in one pass. */
  readonly extraction?: Extraction | undefined
}

/** What one pass over the bytes of a JSON object tells. */
export type Scanned = {
  readonly holdsOurs: boolean | undefined
  readonly extraction: Extraction
  /** Every byte is ASCII. */
  readonly isAscii: boolean
}

/** A JSON object that was scanned. Its text and its value are made when somebody asks: most never do. */
export class ScannedEvent implements Event {
  readonly reading = 'json'
  readonly holdsOurs: boolean | undefined
  readonly extraction: Extraction
  private parsed: Readonly<Record<string, unknown>> | undefined

  constructor(
    readonly bytes: Buffer,
    readonly bom: boolean,
    { holdsOurs, extraction }: Scanned,
  ) {
    this.holdsOurs = holdsOurs
    this.extraction = extraction
  }

  get text(): string {
    return this.bytes.toString('utf8', this.bom ? 3 : 0)
  }

  get names(): readonly string[] {
    return Object.keys(this.value)
  }

  get value(): Readonly<Record<string, unknown>> {
    return (this.parsed ??= JSON.parse(this.text) as Record<string, unknown>)
  }
}
