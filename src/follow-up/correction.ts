// Composes a correction: the same event as in the output topic, annotated with an answer that arrived after its delivery.
import type { EventOut } from '../pipeline/pipeline.js'
import { compose, partsOf, type OutputTarget } from '../delivery/compose.js'
import type { TopicFacts } from '../kafka/topics.js'
import type { Incoming, Outgoing } from '../kafka/records.js'

/** Tells a consumer of several topics that an event with this `enrichment_id` was written before. */
const mark = ['threatweave-correction', Buffer.from('true')] as const
const markBytes = 64

/**
 * The result contains undefined for a correction that is too large even with a compact annotation. For a batch that is split, every
 * member with a lookup gets a correction.
 */
export const createCorrect = (
  target: OutputTarget,
  topic: string,
  { partitions, maxBytes }: Pick<TopicFacts, 'partitions' | 'maxBytes'>,
  now: () => number,
): ((record: Incoming, event: EventOut) => readonly (Outgoing | undefined)[]) => {
  const corrections: OutputTarget = {
    ...target,
    topic,
    maxBytes: Math.min(maxBytes, target.maxBytes) - markBytes,
    outputPartition: (record) => record.partition % partitions,
  }
  const correctOne = (record: Incoming, event: EventOut): Outgoing | undefined => {
    const composed = compose(record, event, corrections, now())
    if (composed.step === 'dead_letter' || composed.step === 'pointer') return undefined
    return { ...composed.record, headers: [...composed.record.headers, mark] }
  }
  return (record, event) =>
    partsOf(record, event)
      ?.filter((part) => isLookedUp(part.event))
      .map((part) => correctOne(part.record, part.event)) ?? [correctOne(record, event)]
}

const isLookedUp = ({ judged }: EventOut): boolean => judged.some(({ decision }) => decision.decision === 'lookup')
