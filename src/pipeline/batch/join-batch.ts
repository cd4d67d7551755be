// Joins annotated members into the bytes of their record again.
import type { Annotation, AnnotationSummary, Status } from '../../domain/annotation.js'
import type { Level } from '../../domain/finding.js'
import { parseObject } from '../../base/json-object.js'
import type { Extraction } from '../../domain/sighting.js'
import type { ValueFormat } from '../../domain/topic-format.js'
import type { Unread } from '../../domain/unread.js'
import type { Judged } from '../../domain/verdict.js'
import { jsonItemsOf } from '../annotate/json-items.js'
import { ObjectEvent, type EventIn, type EventOut, type BatchPart, type Reduced, type Event } from '../event.js'
import { createAnnotationKey } from '../annotate/annotation-key.js'
import { idOf } from '../annotate/conclude.js'
import { stating, untouched, type Forgeries } from '../annotate/forgeries.js'
import { createPlace, type PlaceSettings } from '../annotate/place.js'
import { isCalled } from './collect-at.js'
import { batchLimits, type Batch } from './cut-batch.js'
import { logRecordsPath, type Span } from './shapes.js'
import { addAttributesTo } from '../otlp/add-attributes.js'
import { aloneInRequest } from '../otlp/alone-in-request.js'
import { hasAttribute, type Frame } from '../otlp/find-log-records.js'
import { addAttributes, addFields, attributesOf, type ItemSettings } from './add-items.js'
import { batchText, outcomeOfMembers, type MembersOutcome } from './batch-text.js'

export type JoinBatch = (given: EventIn, batch: Batch, members: readonly EventOut[]) => EventOut

type JoinSettings = Omit<PlaceSettings, 'layers'> & {
  /** Whether every member is written as a record of its own. */
  readonly splits?: boolean
}

type Settings = ItemSettings & {
  readonly splits: boolean
  /** Inserts a text as the annotation of an object. */
  readonly atTop: (bytes: Buffer, text: string) => Buffer
}

export const createJoinBatch = ({ splits = false, ...settings }: JoinSettings): JoinBatch => {
  const { key, onExisting, isAnnotatedInput } = settings
  const { isAnnotationName } = createAnnotationKey(key)
  const keepsExisting = onExisting === 'keep' && isAnnotatedInput !== true
  const place = createPlace({ ...settings, layers: [] })
  const atTop: Settings['atTop'] = (bytes, text) => place(new ObjectEvent(bytes, false), [text], nothingSeen, noLayers)
  return (given, batch, members) =>
    new JoinedRecord(given, batch, members, { key, isAnnotationName, keepsExisting, splits, atTop })
}

const nothingSeen = { sightings: [] }
const noLayers = (): never => {
  throw new Error('an envelope has no layers')
}

const isAccused = ({ verdict }: EventOut): boolean => verdict === 'malicious' || verdict === 'suspicious'

type AloneInRecord = { readonly own: Buffer; readonly at: Span }

/** Makes a record per member, with a copy of the envelope. Undefined if the copies would be too large. */
const aloneInRecord = (
  bytes: Buffer,
  path: readonly string[],
  { members }: Pick<Batch, 'members'>,
): readonly AloneInRecord[] | undefined => {
  const around: { readonly head: string; readonly tail: string }[] = []
  const text = (from: number, to: number): string => bytes.toString('latin1', from, to)
  const walk = (at: number, step: number, head: string, tail: string): void => {
    const name = path[step]
    if (name === undefined) {
      around.push({ head, tail })
      return
    }
    if (bytes[at] !== (name === '*' ? 0x5b : 0x7b)) return
    const { items, close } = jsonItemsOf(bytes, at)
    for (const item of items)
      if (name === '*') walk(item.valueStart, step + 1, `${head}[`, `]${tail}`)
      else if (isCalled(item.name ?? '', name))
        walk(item.valueStart, step + 1, head + text(at, item.valueStart), text(item.valueEnd, close + 1) + tail)
  }
  walk(bytes.indexOf(0x7b), 0, '', '')
  const repeated = around.reduce((sum, { head, tail }) => sum + head.length + tail.length, 0)
  if (around.length !== members.length || repeated > batchLimits.maxBytes) return undefined
  return members.map(({ from, to }, nth) => {
    const { head = '', tail = '' } = around[nth] ?? {}
    const own = Buffer.concat([Buffer.from(head, 'latin1'), bytes.subarray(from, to), Buffer.from(tail, 'latin1')])
    return { own, at: { from: head.length, to: head.length + to - from } }
  })
}

class JoinedRecord implements EventOut {
  readonly origin: string
  readonly time: number | undefined
  readonly key: Buffer | null | undefined
  readonly forgeries: Forgeries | undefined
  private readonly outcome: MembersOutcome
  private readonly original: Buffer

  constructor(
    private readonly given: EventIn,
    private readonly batch: Batch,
    private readonly all: readonly EventOut[],
    private readonly settings: Settings,
  ) {
    const { bytes, origin, time, key } = given
    this.original = batch.record ?? bytes
    this.origin = origin
    this.time = time
    this.key = key
    this.outcome = outcomeOfMembers(all)
    this.forgeries = forgeriesOf(batch, all, this.original)
  }

  get eventTime(): number | undefined {
    return this.batch.isOne ? this.all[0]?.eventTime : this.time
  }

  get members(): readonly EventOut[] | undefined {
    return this.batch.isOne ? undefined : this.all
  }

  get format(): ValueFormat | undefined {
    return this.batch.format
  }

  get unread(): Unread | undefined {
    return this.batch.unread
  }

  /** A record with members past the limit is not split, because its rest could not be read. */
  get parts(): readonly BatchPart[] | undefined {
    const { batch, all, settings } = this
    const { members, content = this.original, isOne, isOtlp, logRecords } = batch
    if (!settings.splits || isOne || batch.count > members.length) return undefined
    if (batch.format && !logRecords) return undefined
    if (!isOtlp && !logRecords)
      return members.map(({ from, to }, nth) => ({ own: content.subarray(from, to), event: all[nth] as EventOut }))
    // A log record needs its resource and scope.
    if (logRecords)
      return aloneInRequest(content, logRecords, batchLimits.maxBytes)?.map(({ own, logRecord }, nth) =>
        this.partOf(own, all[nth] as EventOut, { members: [logRecord], logRecords: [logRecord] }),
      )
    return aloneInRecord(content, logRecordsPath, batch)?.map(({ own, at }, nth) =>
      this.partOf(own, all[nth] as EventOut, { members: [at] }),
    )
  }

  private partOf(own: Buffer, event: EventOut, where: Pick<Batch, 'members' | 'logRecords'>): BatchPart {
    const { given, settings, batch } = this
    const alone: Batch = { ...where, count: 1, place: 'attributes', isOne: true, format: batch.format }
    return { own, event: new JoinedRecord({ ...given, bytes: own, origin: event.origin }, alone, [event], settings) }
  }

  get status(): Status {
    return this.outcome.status
  }

  get verdict(): Level {
    return this.worst.verdict
  }

  /** The annotation of the worst member, for the record. */
  get annotation(): Annotation {
    return this.annotationStating(this.forgeries)
  }

  private annotationStating(stated: Forgeries | undefined): Annotation {
    const annotation = stated ? stating(this.worst.annotation, stated) : this.worst.annotation
    return this.batch.isOne ? annotation : { ...annotation, status: this.status, enrichment_id: idOf(this.origin) }
  }

  get summary(): AnnotationSummary {
    return this.batch.isOne && !this.forgeries ? this.worst.summary : this.annotation
  }

  get others(): readonly AnnotationSummary[] {
    return this.worst.others
  }

  get event(): Event {
    if (this.batch.isOne) return this.worst.event
    const bytes = this.original
    return { bytes, reading: bytes[0] === 0x5b ? 'json_array' : 'text', text: bytes.toString(), bom: false }
  }

  get extraction(): Extraction {
    return this.worst.extraction
  }

  get judged(): readonly Judged[] {
    return this.all.flatMap(({ judged }) => judged)
  }

  annotationText(reduced?: Reduced, stated = this.forgeries && untouched(this.forgeries)): string {
    return this.batch.isOne ? this.worst.annotationText(reduced, stated) : this.text(reduced, () => true, stated)
  }

  /** The annotations without a place in the bytes: of members that are not objects, and those left out to save space. */
  beside(reduced?: Reduced): string | undefined {
    const { place, isOne, count, members } = this.batch
    const hasNoPlace = place === 'header' || (isOne && place === 'attributes' && !hasPlace(this.worst))
    const { forgeries } = this
    const isTold = this.batch.forgeries !== undefined || (forgeries !== undefined && forgeries.left > 0)
    if (hasNoPlace || (isTold && (isOne || place === 'top'))) return this.annotationText(reduced, forgeries)
    if (isOne || place === 'top') return undefined
    const isLeftOut = reduced === 'accused' || reduced === 'worst'
    const isUnplaced = (member: EventOut): boolean => !hasPlace(member) && member.status !== 'skipped'
    return isTold || isLeftOut || count > members.length || this.all.some(isUnplaced)
      ? this.text(reduced, isUnplaced, forgeries)
      : undefined
  }

  bytes(reduced?: Reduced): Buffer {
    const { original, batch, settings } = this
    const { place, members, isOne } = batch
    if (place === 'header' || (reduced === 'worst' && !isOne)) return original
    if (place === 'top') return settings.atTop(original, this.annotationText(reduced, this.forgeries))
    const { from: start = 0 } = members[0] ?? {}
    if (place === 'fields' && !(hasPlace(this.worst) && original[start] === 0x7b))
      return addFields(original, this.flat(this.worst, reduced), settings)
    if (batch.logRecords) return this.withAttributes(batch.logRecords, reduced)
    const pieces: Buffer[] = []
    let done = 0
    for (const [nth, { from, to }] of members.entries()) {
      const member = this.writtenMember(nth, reduced)
      if (!member) continue
      const placed =
        place === 'attributes'
          ? addAttributes(original.subarray(from, to), this.flat(member, reduced), settings)
          : member.bytes(reduced)
      pieces.push(original.subarray(done, from), placed)
      done = to
    }
    pieces.push(original.subarray(done))
    return Buffer.concat(pieces)
  }

  private withAttributes(logRecords: readonly Frame[], reduced: Reduced | undefined): Buffer {
    const { original, settings } = this
    const { key, keepsExisting, isAnnotationName } = settings
    return addAttributesTo(original, logRecords, (nth) => {
      const member = this.writtenMember(nth, reduced)
      const logRecord = logRecords[nth]
      const isKept = keepsExisting && logRecord && hasAttribute(original, logRecord, isAnnotationName)
      return member && !isKept ? attributesOf(this.flat(member, reduced), key) : undefined
    })
  }

  /** The member, if its annotation is written into the record. */
  private writtenMember(nth: number, reduced: Reduced | undefined): EventOut | undefined {
    const member = this.all[nth]
    if (!member || !hasPlace(member)) return undefined
    const isLeftOut = reduced === 'accused' && !this.batch.isOne && !isAccused(member) && !member.forgeries?.cut
    return isLeftOut ? undefined : member
  }

  private get worst(): EventOut {
    return this.all[this.outcome.worst] as EventOut
  }

  private flat(member: EventOut, reduced: Reduced | undefined): Readonly<Record<string, unknown>> {
    return parseObject(Buffer.from(member.annotationText(reduced))) ?? {}
  }

  private text(
    reduced: Reduced | undefined,
    isListed: (member: EventOut) => boolean,
    stated: Forgeries | undefined,
  ): string {
    const { all, outcome, batch } = this
    const annotation = this.annotationStating(stated)
    return batchText({ annotation, members: all, outcome, count: batch.count }, isListed, reduced)
  }
}

const none: Forgeries = { cut: 0, left: 0 }

/** Counts forgeries around and in events; those in an event are removed only if the event is rewritten. */
const forgeriesOf = (batch: Batch, members: readonly EventOut[], original: Buffer): Forgeries | undefined => {
  if (!batch.forgeries && !members.some(({ forgeries }) => forgeries)) return undefined
  let { cut, left } = batch.forgeries ?? none
  const { place } = batch
  for (const [nth, { forgeries = none }] of members.entries()) {
    const isWritten = place === 'member' || (place === 'fields' && original[batch.members[nth]?.from ?? 0] === 0x7b)
    cut += isWritten ? forgeries.cut : 0
    left += forgeries.left + (isWritten ? 0 : forgeries.cut)
  }
  return { cut, left }
}

const hasPlace = ({ event }: EventOut): boolean => event.reading === 'json'
