// Metrics per source of intel.sources: what its calls came to, how it is doing, and how much of its limits is used.
import { providerStates, type ProviderState } from '../domain/provider-state.js'
import type { Define } from './define-metrics.js'

/** What is measured of a source. */
export type SourceMetrics = {
  readonly id: string
  /** What calls came to: what an answer gave, or why it was none. */
  readonly counts: ReadonlyMap<string, number>
  readonly state: ProviderState
}

export const defineSourceMetrics = ({ counter, gauge }: Define, sources: () => readonly SourceMetrics[]): void => {
  counter('source_calls', 'Calls to a source, by what its answer gave or why it gave none.', () =>
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
  gauge('source_limit_used', 'Calls of a source in the current period of each of its limits.', () =>
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
