// Concludes what one event's indicators and their verdicts amount to: the annotation.
import { createHash } from 'node:crypto'
import type { Annotation, Status } from '../domain/annotation.js'
import type { Level } from '../domain/finding.js'
import type { Reading } from '../domain/reading.js'
import type { Direction, Extraction } from '../domain/sighting.js'
import { clip } from './clip.js'
import { fit, isSmall } from './fit.js'
import { annotationOf, beforeId, headOf } from './head.js'
import type { Row } from './row.js'
import { indicatorOf, outweighs, weigh, weights, type Weighed } from './weigh.js'
import { isPlain, writeAnnotation, writeOwn } from './write-annotation.js'

export type { Row }
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
export type Conclusion = {
  readonly writing: Writing
  readonly status: Status
  readonly verdict: Level
  readonly annotation: () => Annotation
}

export const concludeInWriting = ({
  extraction: { action, truncated },
  rows,
  direction,
  origin,
  reading,
  replayId,
}: Findings): Conclusion => {
  let decisive: Row | undefined
  let first: Weighed | undefined
  let asked = 0
  let answered = 0
  let size = 0
  for (const row of rows) {
    const one = row.told ?? tell(row)
    size += one.text.length + 1
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
  if (truncated && first?.level === 'clean') {
    first = undefined
    decisive = undefined
  }
  const status = statusOf(asked, answered, truncated)
  const verdict = first?.level ?? 'unknown'
  const head = headOf(decisive, status, direction, action, truncated, reading)
  const id = origin === undefined ? undefined : idOf(origin)
  const whole = (): Annotation => ({ ...annotationOf(head, decisive), ...ownOf(id, replayId), indicators: [] })
  const isUsual = id !== undefined && replayId === undefined && isPlain(id)
  const opening = isUsual
    ? head.opening
    : head.opening.slice(0, -beforeId.length) + writeOwn(ownOf(id, replayId)) + listing.slice(1)
  if (!isSmall(rows.length, opening.length + (isUsual ? id.length : 0) + size + listing.length)) {
    const annotation = fit(whole(), rows.map(toldOf))
    return { writing: [writeAnnotation(annotation)], status, verdict, annotation: () => annotation }
  }
  const writing = isUsual ? [opening, id, listing] : [opening]
  // Pieces that stand ready: putting texts together costs more than all the rest.
  let isFirst = true
  for (const row of rows) {
    if (isFirst) isFirst = false
    else writing.push(',')
    writing.push((row.told ?? tell(row)).text)
  }
  writing.push(']}')
  return { writing, status, verdict, annotation: () => ({ ...whole(), indicators: rows.map(indicatorOf) }) }
}

/** Between the event's id and its indicators. */
const listing = '","indicators":['

const tell = (row: Row): Weighed => {
  row.told = weigh(row)
  row.grew?.(row.told.text.length)
  return row.told
}
const toldOf = (row: Row): Row & { told: Weighed } => Object.assign(row, { told: row.told ?? tell(row) })

type Own = Pick<Annotation, 'enrichment_id' | 'replay_id'>
const ownOf = (id: string | undefined, replayId: string | undefined): Own => ({
  ...(id !== undefined && { enrichment_id: id }),
  ...(replayId !== undefined && { replay_id: replayId }),
})

export const conclude = (findings: Findings): Annotation => concludeInWriting(findings).annotation()
