// An event is one record as it was read: its bytes, untouched, and what they turned out to be.
import { isUtf8 } from 'node:buffer'
import type { ContentKind } from '../domain/content-kind.js'

export { contentKinds, type ContentKind } from '../domain/content-kind.js'

export type Event = {
  readonly bytes: Buffer
  readonly reading: ContentKind
  /** The bytes as text, without a byte order mark; of `not_utf8` what could be read, of `too_large` the first part. */
  readonly text: string
  readonly bom: boolean
  /** The object, exactly when the reading is `json`. */
  readonly value?: Readonly<Record<string, unknown>> | undefined
  /** The names at the top of the object, exactly when the reading is `json`. */
  readonly names?: readonly string[] | undefined
  /** Whether one of the names would be taken for our annotation, where that was looked at while the event was read. */
  readonly holdsOurs?: boolean | undefined
}

/**
 * Bytes that begin like a JSON object. Whether they are one is decided once, by whoever first reads through them: the extraction, which
 * has to look at every byte anyway and then confirms it, or else the parser. Text and value are made when asked for; most never are.
 */
export class ObjectEvent implements Event {
  holdsOurs: boolean | undefined
  private decided: ContentKind | undefined
  private parsed: Readonly<Record<string, unknown>> | undefined

  constructor(
    readonly bytes: Buffer,
    readonly bom: boolean,
  ) {}

  /** Whether nobody has decided yet. */
  get isOpen(): boolean {
    return this.decided === undefined
  }

  /** A scan found one JSON object. Answers whether the event is one: it is not where the bytes are no UTF-8. */
  confirm(holdsOurs: boolean | undefined): boolean {
    const isText = isUtf8(this.bytes)
    this.decided = isText ? 'json' : 'not_utf8'
    if (isText) this.holdsOurs = holdsOurs
    return isText
  }

  get reading(): ContentKind {
    if (this.decided !== undefined) return this.decided
    if (!isUtf8(this.bytes)) return (this.decided = 'not_utf8')
    this.parsed = parseObject(this.text)
    return (this.decided = this.parsed === undefined ? 'broken_json' : 'json')
  }

  get text(): string {
    return this.bytes.toString('utf8', this.bom ? 3 : 0)
  }

  get value(): Readonly<Record<string, unknown>> | undefined {
    if (this.reading !== 'json') return undefined
    return (this.parsed ??= parseObject(this.text))
  }

  get names(): readonly string[] | undefined {
    const { value } = this
    return value === undefined ? undefined : Object.keys(value)
  }
}

/** Text that begins with a brace is an object or no JSON at all. */
const parseObject = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}
