// Concludes what one event's indicators and their verdicts amount to: the annotation.
import { createHash } from 'node:crypto'
import type { Annotation, Status } from '../domain/annotation.js'
import type { Decision } from '../domain/decision.js'
import type { Reading } from '../domain/reading.js'
import type { Direction, Extraction, Sighting } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import { clip } from './clip.js'
import { fit, isSmall } from './fit.js'
import { headOf } from './head.js'
import { firstText, outweighs, weigh, weights, type Weighed } from './weigh.js'
import { isPlain, writeAnnotation, writeOwn } from './write-annotation.js'

export type Row = {
  readonly sighting: Sighting
  readonly decision: Decision
  /** Where it is missing the answer is still pending. */
  readonly verdict?: Verdict | undefined
  /** How it was told before, in this event or another that holds the same row. */
  told?: Weighed | undefined
  readonly grew?: (() => void) | undefined
}
export type Findings = {
  readonly extraction: Pick<Extraction, 'action' | 'truncated'>
  /** In the order of the event. */
  readonly rows: readonly Row[]
  readonly direction: Direction
  /** Where the event was first read; the same origin always gives the same `enrichment_id`. */
  readonly origin?: string | undefined
  readonly reading?: Reading | undefined
  readonly replayId?: string | undefined
}

const statusOf = (asked: number, answered: number, truncated: boolean): Status => {
  if (asked > 0 && answered === 0) return 'failed'
  if (answered < asked || truncated) return 'partial'
  return asked === 0 ? 'skipped' : 'complete'
}

/** Readable where that is short enough, so that an analyst finds the record it names. */
const idOf = (origin: string): string =>
  origin.length <= 160 && (isPlain(origin) || clip(origin, 200) === origin)
    ? origin
    : createHash('sha256').update(origin).digest('hex')

/** An annotation in writing, piece by piece: most are shared by many events. */
export type Writing = readonly string[]

/** An annotation in writing, and as an object for whoever wants one. */
export type Conclusion = { readonly writing: Writing; readonly annotation: () => Annotation }

export const concludeInWriting = ({
  extraction: { action, truncated },
  rows,
  direction,
  origin,
  reading,
  replayId,
}: Findings): Conclusion => {
  const all: Weighed[] = []
  let first: Weighed | undefined
  let decisive: Row | undefined
  let asked = 0
  let answered = 0
  let size = 0
  for (const row of rows) {
    const one = row.told ?? tell(row)
    all.push(one)
    size += one.text.length
    if (one.weight !== weights.left) {
      asked++
      if (one.weight !== weights.failed) answered++
    }
    if (first === undefined || outweighs(one, first)) {
      first = one
      decisive = row
    }
  }
  // By the order of weights, a clean one comes first only where all that were asked are clean.
  if (truncated && first?.indicator.verdict === 'clean') first = undefined
  const status = statusOf(asked, answered, truncated)
  const head = headOf(first, status, direction, action, truncated, reading, decisive?.grew)
  const id = origin === undefined ? undefined : idOf(origin)
  const isUsual = id !== undefined && replayId === undefined && isPlain(id)
  const opening = isUsual ? head.opening : head.text + writeOwn(ownOf(id, replayId))
  if (!isSmall(all.length, opening.length + (isUsual ? id.length : 0) + size + emptyList.length)) {
    const annotation = fit({ ...head.annotation, ...ownOf(id, replayId), indicators: [] }, all)
    return { writing: [writeAnnotation(annotation)], annotation: () => annotation }
  }
  return {
    writing: isUsual ? writeUsual(opening, id, all) : [opening, `,"indicators":[${all.map(listed).join('')}]}`],
    annotation: () => ({
      ...head.annotation,
      ...ownOf(id, replayId),
      indicators: all.map(({ indicator }) => indicator),
    }),
  }
}

const tell = (row: Row): Weighed => {
  row.grew?.()
  return (row.told = weigh(row.sighting, row.decision, row.verdict))
}

/** Pieces that stand ready: putting texts together costs more than all the rest. */
const writeUsual = (opening: string, id: string, all: readonly Weighed[]): Writing => {
  const writing = [opening, id]
  let isFirst = true
  for (const one of all) {
    writing.push(isFirst ? firstText(one) : one.text)
    isFirst = false
  }
  writing.push(isFirst ? emptyList : ']}')
  return writing
}
const emptyList = '","indicators":[]}'
const listed = ({ text }: Weighed, place: number): string => (place === 0 ? text.slice(1) : text)

type Own = Pick<Annotation, 'enrichment_id' | 'replay_id'>
const ownOf = (id: string | undefined, replayId: string | undefined): Own => ({
  ...(id !== undefined && { enrichment_id: id }),
  ...(replayId !== undefined && { replay_id: replayId }),
})

export const conclude = (findings: Findings): Annotation => concludeInWriting(findings).annotation()
