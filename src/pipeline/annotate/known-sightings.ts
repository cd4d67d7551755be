// A bounded cache of annotation texts per judged sighting.
import type { AnnotatedIndicator, AnnotationSummary } from '../../domain/annotation.js'
import { levels } from '../../domain/finding.js'
import { flags } from '../../domain/flag.js'
import type { GeoSource } from '../../domain/geo.js'
import type { RangeSet } from '../../domain/range-set.js'
import { createBoundedCache } from '../../base/bounded-cache.js'
import type { Verdict, Judged } from '../../domain/verdict.js'
import { sideOf, type Sided } from './direction.js'
import { describeIndicator, weigh, type Weighed } from './indicator.js'
import { summarise, type SummaryInput } from './summary.js'
import { flatten, isCommon, writeIndicator } from './write-annotation.js'

/** The summary and text of a deciding indicator for one `SummaryInput`; others are linked behind it. */
export type Finished = SummaryInput & {
  summary: AnnotationSummary | undefined
  /** The length of the summary as text. */
  size: number | undefined
  text: string | undefined
  next: Finished | undefined
}
type Owner = { finished: Finished | undefined }

export type KnownSighting = Weighed &
  Sided & {
    readonly indicator: AnnotatedIndicator
    readonly verdict: Verdict
    readonly isPending: boolean
    /** Malicious, suspicious or flagged: rules look at it even if another indicator decides. */
    readonly isCandidate: boolean
    /** Its size in the list of the full form. */
    readonly size: number
    text: string | undefined
    /** Texts of the events that it decided, in both forms. */
    readonly full: Owner
    readonly compact: Owner
    /** Whether its compact form is shared with other sightings. */
    readonly isShared: boolean
  }

type KnownSightings = {
  /** Forgets everything if a geo database was replaced; call it before each event. */
  readonly refresh: () => void
  readonly of: (judged: Judged) => KnownSighting
  readonly finished: (owner: Owner, about: SummaryInput) => Finished
  /** Freezes the summary, because all similar events share it. */
  readonly keepSummary: (finished: Finished, summary: AnnotationSummary) => AnnotationSummary
  /** Accounts for a text that the caller stores, and returns it flattened. */
  readonly keep: (text: string) => string
}

/** In characters, with overhead: at least this much is kept, and at most twice as much. */
const generation = 8_388_608
const weightOfEntry = 500
const summaryWeight = 300
/** A text shared by many indicators has a variant for each status, direction, action and activity. */
const maxVariants = 512
const sample: SummaryInput = {
  status: 'complete',
  direction: 'unknown',
  action: 'unknown',
  activity: 'other',
  passwordAccepted: false,
  truncated: false,
  unread: undefined,
  reading: 'json',
  format: undefined,
}

export const createOwner = (): Owner => ({ finished: undefined })

export const createKnownSightings = (ownRanges: RangeSet, geo?: GeoSource): KnownSightings => {
  let recent = createBoundedCache<Judged, KnownSighting>(generation, weightOf)
  let version = geo?.version()
  /** By verdict, or by reason if the compact form states one. */
  const common = new Map<string, Owner>([...levels, 'pending', 'deadline'].map((name) => [name, createOwner()]))

  const learn = (judged: Judged): KnownSighting => {
    const indicator = Object.freeze(describeIndicator(judged, geo?.of(judged.sighting)))
    const { sighting, verdict, late } = judged
    const isShared = isCommon(summarise({ indicator, verdict }, sample))
    const { weight, level, role, placeOfClass, score } = weigh(indicator)
    // Every member by name: V8 gives each spread object its own hidden class, which costs more than the object.
    const known: KnownSighting = {
      weight,
      level,
      role,
      placeOfClass,
      score,
      side: sideOf(sighting, ownRanges),
      indicator,
      verdict,
      isCandidate:
        level === 'malicious' || level === 'suspicious' || flags.some((flag) => verdict.flags[flag] === true),
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
    refresh: () => {
      if (geo === undefined || geo.version() === version) return
      version = geo.version()
      recent = createBoundedCache(generation, weightOf)
    },
    of: (judged) => recent.get(judged) ?? learn(judged),
    finished: (owner, about) => {
      let count = 0
      let before: Finished | undefined
      for (let one = owner.finished; one !== undefined; before = one, one = one.next, count++) {
        if (!isSame(one, about)) continue
        // Moves it to the front: a few variants cover most events.
        if (before !== undefined) {
          before.next = one.next
          one.next = owner.finished
          owner.finished = one
        }
        return one
      }
      // Beyond the limit all variants are dropped.
      const next = count < maxVariants ? owner.finished : undefined
      const { status, direction, action, activity, passwordAccepted, truncated, unread, reading, format } = about
      owner.finished = {
        status,
        direction,
        action,
        activity,
        passwordAccepted,
        truncated,
        unread,
        reading,
        format,
        summary: undefined,
        size: undefined,
        text: undefined,
        next,
      }
      return owner.finished
    },
    keepSummary: (finished, summary) => {
      recent.addWeight(summaryWeight)
      return (finished.summary = Object.freeze(summary))
    },
    keep: (text) => {
      recent.addWeight(text.length)
      return flatten(text)
    },
  }
}

const isSame = (a: SummaryInput, b: SummaryInput): boolean =>
  a.status === b.status &&
  a.direction === b.direction &&
  a.action === b.action &&
  a.activity === b.activity &&
  a.passwordAccepted === b.passwordAccepted &&
  a.truncated === b.truncated &&
  a.unread === b.unread &&
  a.reading === b.reading &&
  a.format === b.format

const sizeOf = ({ finished }: Owner): number => {
  let size = 0
  for (let one = finished; one !== undefined; one = one.next)
    size += (one.text?.length ?? 0) + (one.summary ? summaryWeight : 0)
  return size
}
const weightOf = ({ text, full, compact, isShared }: KnownSighting): number =>
  weightOfEntry + (text?.length ?? 0) + sizeOf(full) + (isShared ? 0 : sizeOf(compact))
