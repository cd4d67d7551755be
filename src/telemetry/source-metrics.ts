// Metrics per source of intel.sources: calls by outcome, state, and use of its limits.
import { providerStates, type ProviderState } from '../domain/provider-state.js'
import type { Define } from './define-metrics.js'

/** The measurements of a source. */
export type SourceMetrics = {
  readonly id: string
  /** Calls by the level in the answer, or the reason of the failure. */
  readonly counts: ReadonlyMap<string, number>
  readonly state: ProviderState
}

export const defineSourceMetrics = ({ counter, gauge }: Define, sources: () => readonly SourceMetrics[]): void => {
  counter('source_calls', 'Calls to a source, by the level in the answer or the reason of the failure.', () =>
    sources().flatMap(({ id: source, counts }) =>
      [...counts].map(([outcome, value]) => ({ labels: { source, outcome }, value })),
    ),
  )
  gauge('source_state', '1 for the current state of a source.', () =>
    sources().flatMap(({ id: source, state: { state: current } }) =>
      providerStates.map((state) => ({ labels: { source, state }, value: state === current ? 1 : 0 })),
    ),
  )
  gauge('source_queued_lookups', 'Lookups waiting in the queue of a source.', () =>
    sources().map(({ id: source, state }) => ({ labels: { source }, value: state.waiting })),
  )
  gauge('source_limit_used', 'Calls to a source in the current period of each limit.', () =>
    sources().flatMap(({ id: source, state: { limits = [] } }) =>
      limits.map(({ per, used }) => ({ labels: { source, per }, value: used })),
    ),
  )
  gauge('source_limit', 'Calls that each limit of a source allows.', () =>
    sources().flatMap(({ id: source, state: { limits = [] } }) =>
      limits.map(({ per, calls }) => ({ labels: { source, per }, value: calls })),
    ),
  )
}
