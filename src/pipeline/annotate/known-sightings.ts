// What is kept of judged sightings between events, so that most annotations are put together from finished text; bounded.
import type { AnnotatedIndicator, AnnotationSummary } from '../../domain/annotation.js'
import { levels } from '../../domain/finding.js'
import type { RangeSet } from '../../domain/range-set.js'
import { createBoundedCache } from '../../domain/bounded-cache.js'
import type { Verdict } from '../../domain/verdict.js'
import type { Judged } from '../../domain/judged.js'
import { sideOf, type Sided } from './direction.js'
import { describeIndicator, weigh, type Weighed } from './indicator.js'
import { summarise, type Circumstances } from './summary.js'
import { flat, isCommon, writeIndicator } from './write-annotation.js'

/** What an indicator came to in some circumstances, made when it was first wanted; those in others are chained behind it. */
export type Finished = Circumstances & {
  summary: AnnotationSummary | undefined
  text: string | undefined
  readonly next: Finished | undefined
}
export type Owner = { finished: Finished | undefined }

export type Known = Weighed &
  Sided & {
    readonly indicator: AnnotatedIndicator
    readonly verdict: Verdict
    readonly isPending: boolean
    /** In the list of the full form. */
    readonly size: number
    text: string | undefined
    /** The events that it decided, in each of the two forms. */
    readonly full: Owner
    readonly compact: Owner
    /** Its compact form is shared by all that say the same. */
    readonly isShared: boolean
  }

export type KnownSightings = {
  readonly of: (judged: Judged) => Known
  readonly finished: (owner: Owner, about: Circumstances) => Finished
  /** The text as it is best kept; whoever calls this keeps it. */
  readonly keep: (text: string) => string
}

/** In characters, with what an entry takes beside them: at least so much is kept, and at most twice as much. */
const generation = 33_554_432
const weightOfEntry = 500
const maxCircumstances = 32
const sample: Circumstances = {
  status: 'complete',
  direction: 'unknown',
  action: 'unknown',
  truncated: false,
  reading: 'json',
  format: undefined,
}

export const createOwner = (): Owner => ({ finished: undefined })

export const createKnownSightings = (ownRanges: RangeSet): KnownSightings => {
  const recent = createBoundedCache<Judged, Known>(generation, weightOf)
  /** By verdict, or by reason where the compact form states one. */
  const common = new Map<string, Owner>([...levels, 'pending', 'deadline'].map((name) => [name, createOwner()]))

  const learn = (judged: Judged): Known => {
    const indicator = Object.freeze(describeIndicator(judged))
    const { sighting, verdict, late } = judged
    const isShared = isCommon(summarise({ indicator, verdict }, sample))
    const known: Known = {
      ...weigh(indicator),
      side: sideOf(sighting, ownRanges),
      indicator,
      verdict,
      isPending: late !== undefined || verdict.reason === 'pending' || verdict.reason === 'deadline',
      size: writeIndicator(indicator).length,
      text: undefined,
      full: createOwner(),
      compact: (isShared && (common.get(indicator.reason ?? '') ?? common.get(indicator.verdict))) || createOwner(),
      isShared,
    }
    recent.set(judged, known)
    return known
  }

  return {
    of: (judged) => recent.get(judged) ?? learn(judged),
    finished: (owner, about) => {
      let count = 0
      for (let one = owner.finished; one !== undefined; one = one.next, count++) if (isSame(one, about)) return one
      // Past so many all are forgotten: one indicator decides in few circumstances.
      const next = count < maxCircumstances ? owner.finished : undefined
      owner.finished = { ...about, summary: undefined, text: undefined, next }
      return owner.finished
    },
    keep: (text) => {
      recent.addWeight(text.length)
      return flat(text)
    },
  }
}

const isSame = (a: Circumstances, b: Circumstances): boolean =>
  a.status === b.status &&
  a.direction === b.direction &&
  a.action === b.action &&
  a.truncated === b.truncated &&
  a.reading === b.reading &&
  a.format === b.format

const sizeOf = ({ finished }: Owner): number => {
  let size = 0
  for (let one = finished; one !== undefined; one = one.next) size += one.text?.length ?? 0
  return size
}
const weightOf = ({ text, full, compact, isShared }: Known): number =>
  weightOfEntry + (text?.length ?? 0) + sizeOf(full) + (isShared ? 0 : sizeOf(compact))
