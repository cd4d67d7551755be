// An event: its original bytes and what they contain.
import { isUtf8 } from 'node:buffer'
import type { ContentKind } from '../domain/content-kind.js'

export { contentKinds, type ContentKind } from '../domain/content-kind.js'

export type Event = {
  readonly bytes: Buffer
  readonly reading: ContentKind
  /** The text without byte order mark; approximate for `not_utf8`, only the first part for `too_large`. */
  readonly text: string
  readonly bom: boolean
  /** The object, if the content is `json`. */
  readonly value?: Readonly<Record<string, unknown>> | undefined
  /** Top-level names, if the content is `json`. */
  readonly names?: readonly string[] | undefined
  /** Whether a name looks like our annotation key; absent if that was not checked while reading. */
  readonly hasAnnotationName?: boolean | undefined
}

/**
 * Bytes that start like a JSON object. Whether they are one is decided once: by the extraction, which scans every byte anyway, or else
 * by the parser. Text and value are created on demand.
 */
export class ObjectEvent implements Event {
  hasAnnotationName: boolean | undefined
  private decided: ContentKind | undefined
  private parsed: Readonly<Record<string, unknown>> | undefined

  constructor(
    readonly bytes: Buffer,
    readonly bom: boolean,
  ) {}

  /** Whether it is not decided yet. */
  get isOpen(): boolean {
    return this.decided === undefined
  }

  /** Called when a scan found one JSON object; returns false if the bytes are not UTF-8. */
  confirm(hasAnnotationName: boolean | undefined): boolean {
    const isText = isUtf8(this.bytes)
    this.decided = isText ? 'json' : 'not_utf8'
    if (isText) this.hasAnnotationName = hasAnnotationName
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

/** Text that starts with a brace is an object or not JSON. */
const parseObject = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}
