// An event: its original bytes and what they contain.
import { isUtf8 } from 'node:buffer'
import type { ContentKind } from '../domain/annotation.js'
import { isJsonObject } from './is-json-object.js'

export type Event = {
  readonly bytes: Buffer
  readonly reading: ContentKind
  /** The text without byte order mark; approximate for `not_utf8`, only the searched part of a large event. */
  readonly text: string
  readonly bom: boolean
  /** The object, if the content is `json` and not too large to be parsed. */
  readonly value?: Readonly<Record<string, unknown>> | undefined
  /** Whether a name looks like our annotation key; absent if that was not checked while reading. */
  readonly hasAnnotationName?: boolean | undefined
}

/**
 * Bytes that start like a JSON object. Whether they are one is decided once: by the extraction, which scans every byte anyway, or else
 * by a check of its own. Text and value are created on demand.
 */
export class ObjectEvent implements Event {
  hasAnnotationName: boolean | undefined
  private decided: ContentKind | undefined
  private parsed: Readonly<Record<string, unknown>> | undefined

  constructor(
    readonly bytes: Buffer,
    readonly bom: boolean,
    /** How many bytes are searched, and at most parsed. */
    readonly searchedBytes = Infinity,
  ) {}

  get isLarge(): boolean {
    return this.bytes.length > this.searchedBytes
  }

  /** Whether it is not decided yet. */
  get isOpen(): boolean {
    return this.decided === undefined
  }

  /** Called when a scan found one JSON object; returns false if the bytes are not UTF-8. */
  confirm(hasAnnotationName: boolean | undefined): boolean {
    const isText = isUtf8(this.bytes)
    this.decided = isText ? 'json' : this.isLarge ? 'too_large' : 'not_utf8'
    if (isText) this.hasAnnotationName = hasAnnotationName
    return isText
  }

  get reading(): ContentKind {
    if (this.decided !== undefined) return this.decided
    const { bytes, bom, isLarge } = this
    if (!isUtf8(bytes)) return (this.decided = isLarge ? 'too_large' : 'not_utf8')
    if (isJsonObject(bytes, bom ? 3 : 0)) return (this.decided = 'json')
    return (this.decided = isLarge ? 'too_large' : 'broken_json')
  }

  get text(): string {
    return this.bytes.toString('utf8', this.bom ? 3 : 0, Math.min(this.bytes.length, this.searchedBytes))
  }

  get value(): Readonly<Record<string, unknown>> | undefined {
    if (this.reading !== 'json' || this.isLarge) return undefined
    return (this.parsed ??= JSON.parse(this.text) as Readonly<Record<string, unknown>>)
  }
}
