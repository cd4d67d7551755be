// The text of annotations: most of it is finished before, because the same sightings come again in the same circumstances.
import type { AnnotatedIndicator, Annotation, AnnotationSummary, Status } from '../../domain/annotation.js'
import type { Level } from '../../domain/finding.js'
import type { RangeSet } from '../../domain/range-set.js'
import type { Reading } from '../../domain/reading.js'
import { createRecent } from '../../domain/recent.js'
import type { Extraction } from '../../domain/sighting.js'
import type { Verdict } from '../../domain/verdict.js'
import type { Judged } from '../judged.js'
import { conclude, idOf, idsOf } from './conclude.js'
import { directionOf, sideOf, type Sided } from './direction.js'
import { isSmall } from './fit.js'
import { describeIndicator, outcomeOf, weigh, type Weighed } from './indicator.js'
import { summarise, type Circumstances } from './summary.js'
import { flat, isPlain, writeAnnotation, writeIds, writeIndicator, writeSummary } from './write-annotation.js'

/** An annotation as JSON in pieces, most of which other events share, and as a value for whoever wants one. */
export type AnnotationText = {
  readonly status: Status
  readonly verdict: Level
  readonly text: readonly string[]
  readonly value: () => Annotation
}

/** What is kept of a judged sighting for the next event. */
type Known = Weighed &
  Sided & {
    readonly indicator: AnnotatedIndicator
    readonly verdict: Verdict
    readonly text: string
    /** The summaries of events that it decided. */
    summaries: KnownSummary | undefined
  }

type KnownSummary = Circumstances & {
  /** Up to the event's id. */
  readonly opening: string
  readonly value: AnnotationSummary
  /** In other circumstances. */
  readonly next: KnownSummary | undefined
}

const beforeId = ',"enrichment_id":"'
const afterId = '","indicators":['

/** In characters, with what an entry takes beside them: at least so much is kept, and at most twice as much. */
const generation = 33_554_432
const weightOfEntry = 700
const maxSummaries = 8

export const createAnnotationText = (ownRanges: RangeSet, replayId: string | undefined) => {
  const recent = createRecent<Judged, Known>(generation, weightOf)
  /** Of events in which nothing decided. */
  const undecided: Pick<Known, 'summaries'> = { summaries: undefined }

  const knownOf = (judged: Judged): Known => recent.get(judged) ?? learn(judged)

  const learn = (judged: Judged): Known => {
    const indicator = Object.freeze(describeIndicator(judged))
    const known: Known = {
      ...weigh(indicator),
      side: sideOf(judged.sighting, ownRanges),
      indicator,
      verdict: judged.verdict,
      text: flat(writeIndicator(indicator)),
      summaries: undefined,
    }
    recent.set(judged, known)
    return known
  }

  const summaryOf = (deciding: Known | undefined, about: Circumstances): KnownSummary => {
    const owner = deciding ?? undecided
    let count = 0
    for (let one = owner.summaries; one !== undefined; one = one.next, count++) if (isSame(one, about)) return one
    const value = summarise(deciding, about)
    const opening = flat(writeSummary(value) + beforeId)
    // Past so many all are forgotten: an indicator decides in few circumstances.
    owner.summaries = { ...about, opening, value, next: count < maxSummaries ? owner.summaries : undefined }
    recent.grew(opening.length)
    return owner.summaries
  }

  return (
    { action, truncated }: Pick<Extraction, 'action' | 'truncated'>,
    rows: readonly Judged[],
    reading: Reading,
    origin: string,
  ): AnnotationText => {
    const indicators = rows.map(knownOf)
    const { deciding, status, verdict } = outcomeOf(indicators, truncated)
    const direction = directionOf(indicators)
    const { opening, value } = summaryOf(deciding, { status, direction, action, truncated, reading })
    const id = idOf(origin)
    const isUsual = replayId === undefined && isPlain(id)
    const text = isUsual
      ? [opening, id, afterId]
      : [opening.slice(0, -beforeId.length), writeIds(idsOf(origin, replayId)), afterId.slice(1)]
    let size = 0
    for (const piece of text) size += piece.length
    for (const one of indicators) size += one.text.length + 1
    if (!isSmall(rows.length, size + 2)) {
      const fitted = conclude({ extraction: { action, truncated }, rows, direction, origin, reading, replayId })
      return { status, verdict, text: [writeAnnotation(fitted)], value: () => fitted }
    }
    for (let place = 0; place < indicators.length; place++) {
      if (place > 0) text.push(',')
      text.push((indicators[place] as Known).text)
    }
    text.push(']}')
    return {
      status,
      verdict,
      text,
      value: () => ({ ...value, ...idsOf(origin, replayId), indicators: indicators.map(({ indicator }) => indicator) }),
    }
  }
}

const isSame = (a: Circumstances, b: Circumstances): boolean =>
  a.status === b.status &&
  a.direction === b.direction &&
  a.action === b.action &&
  a.truncated === b.truncated &&
  a.reading === b.reading

const weightOf = ({ text, summaries }: Known): number => {
  let weight = weightOfEntry + text.length
  for (let one = summaries; one !== undefined; one = one.next) weight += one.opening.length
  return weight
}
