// Joins the annotated members of a record again: the record's bytes with every member in its place.
import type { Annotation, Status } from '../../domain/annotation.js'
import type { Level } from '../../domain/finding.js'
import { parseObject } from '../../domain/json-object.js'
import type { Extraction } from '../../domain/sighting.js'
import type { Judged } from '../../domain/judged.js'
import type { EventIn, EventOut, Reduced } from '../annotate.js'
import { createAnnotationKey } from '../annotate/annotation-key.js'
import { idOf } from '../annotate/conclude.js'
import { createPlace, type PlaceSettings } from '../annotate/place.js'
import { ObjectEvent, type Event } from '../event.js'
import { batchText } from './batch-text.js'
import type { Batch } from './cut-batch.js'
import { EnvelopedEvent, type PlaceSettingsOfBatch } from './enveloped-event.js'
import { addAttributes } from './otlp.js'
import { outcomeOfMembers, type MembersOutcome } from './outcome-of-members.js'

export type JoinBatch = (given: EventIn, batch: Batch, members: readonly EventOut[]) => EventOut

export const createJoinBatch = (settings: Omit<PlaceSettings, 'layers'>): JoinBatch => {
  const { key, onExisting, isAnnotatedInput } = settings
  const { isAnnotationName } = createAnnotationKey(key)
  const keepsExisting = onExisting === 'keep' && isAnnotatedInput !== true
  const placeInObject = createPlace({ ...settings, layers: [] })
  const place: PlaceSettingsOfBatch = {
    key,
    isAnnotationName,
    keepsExisting,
    atTop: (bytes, text) => placeInObject(new ObjectEvent(bytes, false), [text], nothingSeen, noLayers),
  }
  return (given, batch, members) => {
    const [only] = members
    return batch.isOne && only
      ? new EnvelopedEvent(given, batch, only, place)
      : new AnnotatedBatch(given, batch, members, place)
  }
}

const nothingSeen = { sightings: [] }
const noLayers = (): never => {
  throw new Error('an envelope has no layers')
}

const isAccused = ({ verdict }: EventOut): boolean => verdict === 'malicious' || verdict === 'suspicious'

class AnnotatedBatch implements EventOut {
  readonly origin: string
  readonly time: number | undefined
  readonly key: Buffer | null | undefined
  private readonly outcome: MembersOutcome
  private readonly original: Buffer

  constructor(
    { bytes, origin, time, key }: EventIn,
    private readonly batch: Batch,
    readonly members: readonly EventOut[],
    private readonly settings: PlaceSettingsOfBatch,
  ) {
    this.original = bytes
    this.origin = origin
    this.time = time
    this.key = key
    this.outcome = outcomeOfMembers(members)
  }

  get status(): Status {
    return this.outcome.status
  }

  get verdict(): Level {
    return this.worst.verdict
  }

  /** That of the worst member, as the record's. */
  get annotation(): Annotation {
    const { annotation } = this.worst
    return { ...annotation, status: this.status, enrichment_id: idOf(this.origin) }
  }

  get event(): Event {
    const bytes = this.original
    return { bytes, reading: bytes[0] === 0x5b ? 'json_array' : 'text', text: bytes.toString(), bom: false }
  }

  get extraction(): Extraction {
    return this.worst.extraction
  }

  get judged(): readonly Judged[] {
    return this.members.flatMap(({ judged }) => judged)
  }

  annotationText(reduced?: Reduced): string {
    return this.text(reduced, () => true)
  }

  /** What has no place in the bytes: members that are no objects, and what was left out to save space. */
  beside(reduced?: Reduced): string | undefined {
    if (this.batch.place === 'header') return this.annotationText(reduced)
    if (this.batch.place === 'top') return undefined
    const isLeftOut = reduced === 'accused' || reduced === 'worst'
    const isUnplaced = (member: EventOut): boolean => !this.hasPlace(member) && member.status !== 'skipped'
    return isLeftOut || this.batch.count > this.members.length || this.members.some(isUnplaced)
      ? this.text(reduced, isUnplaced)
      : undefined
  }

  bytes(reduced?: Reduced): Buffer {
    const { place } = this.batch
    if (reduced === 'worst' || place === 'header') return this.original
    if (place === 'top') return this.settings.atTop(this.original, this.annotationText(reduced))
    const pieces: Buffer[] = []
    let done = 0
    for (const [nth, { from, to }] of this.batch.members.entries()) {
      const member = this.members[nth]
      if (!member || !this.hasPlace(member) || (reduced === 'accused' && !isAccused(member))) continue
      pieces.push(this.original.subarray(done, from), this.placed(member, from, to, reduced))
      done = to
    }
    pieces.push(this.original.subarray(done))
    return Buffer.concat(pieces)
  }

  private get worst(): EventOut {
    return this.members[this.outcome.worst] as EventOut
  }

  private hasPlace({ event }: EventOut): boolean {
    return event.reading === 'json'
  }

  private placed(member: EventOut, from: number, to: number, reduced?: Reduced): Buffer {
    if (this.batch.place === 'member') return member.bytes(reduced)
    const annotation = parseObject(Buffer.from(member.annotationText(reduced))) ?? {}
    return addAttributes(this.original.subarray(from, to), annotation, this.settings)
  }

  private text(reduced: Reduced | undefined, isListed: (member: EventOut) => boolean): string {
    const { annotation, members, outcome, batch } = this
    return batchText({ annotation, members, outcome, count: batch.count }, isListed, reduced)
  }
}
