// A source as the innermost lookup layer: makes one call, returns its finding and counts the outcome.
import type { Finding, Known } from '../domain/finding.js'
import type { Source } from '../domain/lookup.js'
import type { Reason } from '../domain/reason.js'
import { findingOf } from './transmit.js'
import { isGivenUp } from './classify.js'
import type { Emit } from '../telemetry/event.js'
import type { SourceClient } from './source-client.js'

/** The outcome of a call: the level in the answer, or the reason of a failure. */
type SourceOutcome = 'malicious' | 'suspicious' | 'clean' | 'nothing' | Reason
export type SourceCounts = ReadonlyMap<SourceOutcome, number>

type AskSource = { readonly source: Source; readonly counts: () => SourceCounts }

export const createAskSource = (
  id: string,
  client: SourceClient,
  { now, emit }: { readonly now: () => number; readonly emit: Emit },
): AskSource => {
  const counts = new Map<SourceOutcome, number>()
  const count = (outcome: SourceOutcome): void => void counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  const operations = [id]
  const source: Source = (indicator, _, call): Promise<Finding> =>
    call<Known>(async () => {
      const from = now()
      const reply = await client.ask(indicator)
      const ms = now() - from
      if (reply.status === 'answer') {
        const { facts } = reply
        const gave = facts.clearedBy ? 'clean' : (accusationOf(facts.listings?.[0]?.level) ?? 'nothing')
        count(gave)
        emit({ event: 'source_answered', source: id, gave, ms })
        return { status: 'known', facts, source: `source:${id}`, at: now(), operations }
      }
      const { failure } = reply
      if (!isGivenUp(failure)) {
        count(failure.reason)
        if (failure.reason === 'not_found') emit({ event: 'source_answered', source: id, gave: 'not_found', ms })
        else
          emit({
            event: 'source_call_failed',
            source: id,
            reason: failure.reason,
            detail: failure.detail,
            ms,
          })
      }
      const finding = findingOf(failure, now())
      return finding.at === undefined ? finding : { ...finding, operations }
    })
  return { source, counts: () => counts }
}

const accusationOf = (level: string | undefined): 'malicious' | 'suspicious' | undefined =>
  level === 'malicious' || level === 'suspicious' ? level : undefined
