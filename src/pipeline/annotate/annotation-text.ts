// Builds the annotation text from cached pieces, because the same sightings occur again and again.
import type {
  AnnotatedIndicator,
  Annotation,
  AnnotationSummary,
  Detail,
  Status,
  ContentKind,
} from '../../domain/annotation.js'
import type { Level } from '../../domain/finding.js'
import type { GeoSource } from '../../domain/geo.js'
import type { RangeSet } from '../../domain/range-set.js'
import { formatOf, type Extraction } from '../../domain/sighting.js'
import type { Judged } from '../../domain/verdict.js'
import { conclude, idOf, idsOf, isSmall } from './conclude.js'
import { directionOf } from './direction.js'
import { outcomeOf } from './indicator.js'
import { createKnownSightings, createOwner, type Finished, type KnownSighting } from './known-sightings.js'
import { summarise, type SummaryInput } from './summary.js'
import {
  isPlain,
  writeAnnotation,
  writeCompactSummary,
  writeIds,
  writeIndicator,
  writeSummary,
} from './write-annotation.js'

export type TextSettings = {
  readonly detail: Detail
  /** Whether compact annotations have an `enrichment_id`; pending ones always do. */
  readonly hasId: boolean
  readonly ownRanges: RangeSet
  readonly replayId?: string | undefined
  /** Country and network of an address, for the full form. */
  readonly geo?: GeoSource | undefined
}

/** An annotation as pieces of JSON, most of them shared between events, and as a value on demand. */
export type AnnotationText = {
  readonly status: Status
  readonly verdict: Level
  readonly isFull: boolean
  readonly hasId: boolean
  readonly text: readonly string[]
  readonly value: () => Annotation
  /** The flat members of the value. */
  readonly summary: () => AnnotationSummary
  /** The flat members as if another indicator had decided: one for each further malicious, suspicious or flagged indicator. */
  readonly others: () => readonly AnnotationSummary[]
}

/** One event: its sightings, its outcome and its origin. */
type Case = {
  readonly rows: readonly Judged[]
  readonly indicators: readonly KnownSighting[]
  readonly deciding: KnownSighting | undefined
  readonly about: SummaryInput
  readonly origin: string
}

const beforeId = ',"enrichment_id":"'
const beforeList = '","indicators":['
const roomForIds = 512

export const createAnnotationText = ({ detail, hasId, ownRanges, replayId, geo }: TextSettings) => {
  const known = createKnownSightings(ownRanges, geo)
  /** For events without a deciding indicator. */
  const nothing = { full: createOwner(), compact: createOwner() }

  const full = (one: Case): readonly string[] => {
    const { rows, indicators, deciding, about, origin } = one
    const finished = known.finished((deciding ?? nothing).full, about)
    const opening = (finished.text ??= known.keep(writeSummary(summaryOf(finished, one)) + beforeId))
    const id = idOf(origin)
    const text =
      replayId === undefined && isPlain(id)
        ? [opening, id, beforeList]
        : [opening.slice(0, -beforeId.length), writeIds(idsOf(origin, replayId)), beforeList.slice(1)]
    let size = 2
    for (const piece of text) size += piece.length
    if (!isSmall(rows.length, size + sizeOf(indicators))) return [writeAnnotation(valueOf(one))]
    let isFirst = true
    for (const each of indicators) {
      if (isFirst) isFirst = false
      else text.push(',')
      text.push((each.text ??= known.keep(writeIndicator(each.indicator))))
    }
    text.push(']}')
    return text
  }

  /** The full form without its text, for rules that look at an event with a compact annotation. */
  const valueOf = (one: Case): Annotation => {
    const { rows, indicators, deciding, about, origin } = one
    const finished = known.finished((deciding ?? nothing).full, about)
    const summary = summaryOf(finished, one)
    // The summary takes about as much memory as its text.
    finished.size ??= known.keep(writeSummary(summary)).length
    if (isSmall(rows.length, finished.size + roomForIds + sizeOf(indicators)))
      return { ...summary, ...idsOf(origin, replayId), indicators: indicators.map(indicatorOf) }
    const { direction, reading } = about
    const described = indicators.map(indicatorOf)
    return conclude({ extraction: about, rows, described, direction, origin, reading, replayId })
  }

  const summaryOf = (finished: Finished, { deciding, about }: Pick<Case, 'deciding' | 'about'>): AnnotationSummary => {
    if (finished.summary !== undefined) return finished.summary
    return known.keepSummary(finished, summarise(deciding, about))
  }

  const othersOf = ({ indicators, deciding, about }: Case): readonly AnnotationSummary[] => {
    let others: AnnotationSummary[] | undefined
    for (const one of indicators)
      if (one.isCandidate && one !== deciding)
        (others ??= []).push(summaryOf(known.finished(one.full, about), { deciding: one, about }))
    return others ?? none
  }

  const compact = ({ deciding, about: whole, origin }: Case, withId: boolean): readonly string[] => {
    const about = compactOf(whole, deciding?.isShared ?? true)
    const finished = known.finished((deciding ?? nothing).compact, about)
    const text = (finished.text ??= known.keep(writeCompactSummary(summarise(deciding, about))))
    if (!withId) return replayId === undefined ? [text, '}'] : [text, writeIds({ replay_id: replayId }), '}']
    const id = idOf(origin)
    return replayId === undefined && isPlain(id)
      ? [text, beforeId, id, '"}']
      : [text, writeIds(idsOf(origin, replayId)), '}']
  }

  return (
    extraction: Pick<
      Extraction,
      'action' | 'activity' | 'passwordAccepted' | 'truncated' | 'unread' | 'format' | 'flow'
    >,
    rows: readonly Judged[],
    reading: ContentKind,
    origin: string,
  ): AnnotationText => {
    const { action, activity = 'other', passwordAccepted = false, truncated, unread } = extraction
    known.refresh()
    const indicators = rows.map(known.of)
    const { deciding, status, verdict } = outcomeOf(indicators, extraction)
    const isFull = detail === 'full' || (detail === 'auto' && (verdict === 'malicious' || verdict === 'suspicious'))
    const direction = directionOf(indicators, extraction.flow)
    const format = formatOf(extraction)
    const about = { status, direction, action, activity, passwordAccepted, truncated, unread, reading, format }
    const one: Case = { rows, indicators, deciding, about, origin }
    const withId = hasId || unread === 'no_schema' || indicators.some(isPending)
    return {
      status,
      verdict,
      isFull,
      hasId: withId,
      text: isFull ? full(one) : compact(one, withId),
      value: () => valueOf(one),
      // Kept with the indicator: alerts, counts and the status page read it several times per event.
      summary: () => summaryOf(known.finished((deciding ?? nothing).full, about), one),
      others: () => othersOf(one),
    }
  }
}

/** The compact form has no format, and an activity only if it names an indicator, so that most events share one text. */
const compactOf = (about: SummaryInput, isShared: boolean): SummaryInput => {
  const { status, direction, action, activity, passwordAccepted, truncated, unread, reading, format } = about
  if (format === undefined && (!isShared || activity === 'other')) return about
  return {
    status,
    direction,
    action,
    activity: isShared ? 'other' : activity,
    passwordAccepted: !isShared && passwordAccepted,
    truncated,
    unread,
    reading,
    format: undefined,
  }
}

const none: readonly AnnotationSummary[] = []

const sizeOf = (indicators: readonly KnownSighting[]): number =>
  indicators.reduce((size, each) => size + each.size + 1, 0)
const indicatorOf = ({ indicator }: KnownSighting): AnnotatedIndicator => indicator
const isPending = (one: KnownSighting): boolean => one.isPending
