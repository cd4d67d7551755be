// Builds annotated events from judged sightings with the pipeline's own annotation.
import type { AnnotatedEvent } from '../../src/alerts/annotated-event.js'
import type { Level } from '../../src/domain/finding.js'
import type { Action, Extraction, Role } from '../../src/domain/sighting.js'
import type { Judged, Verdict } from '../../src/domain/verdict.js'
import { createRangeSet } from '../../src/domain/range-set.js'
import { createAnnotate } from '../../src/pipeline/annotate/annotate.js'
import { decode } from '../../src/pipeline/decode.js'

export type Sketch = {
  readonly value: string
  readonly role: Role
  readonly level?: Level
} & Partial<Pick<Verdict, 'score' | 'categories' | 'flags'>>

const annotate = createAnnotate({
  key: 'threatweave',
  onExisting: 'replace',
  layers: [],
  detail: 'auto',
  hasId: true,
  ownRanges: createRangeSet([]),
})

export const judgedOf = ({ value, role, level = 'clean', flags = {}, ...more }: Sketch): Judged => {
  const type = /^[\d.]+$|:/.test(value) ? 'ip' : 'domain'
  const isInside = value.startsWith('10.')
  return {
    sighting: { type, value, field: role, role, evidence: 'field' },
    decision: isInside ? { decision: 'skip', reason: 'private_address' } : { decision: 'lookup', ask: { type, value } },
    verdict: isInside
      ? { level: 'unknown', reason: 'private_address', flags, because: '' }
      : { level, flags, because: `said to be ${level}`, ...(level === 'unknown' && { reason: 'no_verdict' }), ...more },
  }
}

export const eventOf = (
  origin: string,
  sketches: readonly Sketch[],
  {
    action = 'allowed',
    object = {},
    ...more
  }: { readonly action?: Action; readonly object?: object } & Partial<Extraction> = {},
): AnnotatedEvent => {
  const bytes = Buffer.from(JSON.stringify(object))
  const judged = sketches.map(judgedOf)
  const extraction = { action, truncated: false, ...more, sightings: judged.map(({ sighting }) => sighting) }
  return annotate({ bytes, origin, time: 0 }, decode(bytes, { maxEventBytes: 65_536 }), extraction, judged)
}
