// Metrics of alert sinks and silences.
import type { Define } from './define-metrics.js'

type SinkMetric = {
  readonly id: string
  readonly state: string
  readonly alerts: Readonly<Record<string, number>>
  readonly failures: Readonly<Record<string, number | undefined>>
  /** Epoch milliseconds when the alert in progress was written. */
  readonly oldest: number | undefined
  /** By partition. */
  readonly positions: ReadonlyMap<number, number>
  readonly lags: ReadonlyMap<number, number>
}

export type SinkMetrics = {
  readonly states: readonly string[]
  readonly sinks: readonly SinkMetric[]
  readonly silences: readonly { readonly id: string; readonly alerts: number; readonly isInForce: boolean }[]
}

export const defineSinkMetrics = ({ counter, gauge }: Define, read: () => SinkMetrics, now: () => number): void => {
  const eachSink = <Value>(
    of: (sink: SinkMetric) => readonly (readonly [labels: Record<string, string>, value: Value])[],
  ) =>
    read().sinks.flatMap((sink) => of(sink).map(([labels, value]) => ({ labels: { sink: sink.id, ...labels }, value })))
  counter('sink_alerts', 'Alerts, by sink and outcome.', () =>
    eachSink(({ alerts }) => Object.entries(alerts).map(([fate, value]) => [{ fate }, value] as const)),
  )
  counter('sink_failures', 'Requests that must be retried, by sink and its state at that time.', () =>
    eachSink(({ failures }) => Object.entries(failures).map(([state, value]) => [{ state }, value ?? 0] as const)),
  )
  gauge('sink_state', '1 for the current state of a sink.', () =>
    eachSink(({ state }) => read().states.map((one) => [{ state: one }, Number(one === state)] as const)),
  )
  gauge('sink_position', 'The offset of the next alert, by sink and partition.', () =>
    eachSink(({ positions }) =>
      [...positions].map(([partition, at]) => [{ partition: String(partition) }, at] as const),
    ),
  )
  gauge('sink_lag', 'Alerts not yet processed, by sink and partition.', () =>
    eachSink(({ lags }) => [...lags].map(([partition, lag]) => [{ partition: String(partition) }, lag] as const)),
  )
  gauge('sink_oldest_alert_seconds', 'The age of the alert in progress, 0 if there is none.', () =>
    eachSink(({ oldest }) => [[{}, oldest === undefined ? 0 : Math.max(0, now() - oldest) / 1000] as const]),
  )
  counter('silenced_alerts', 'Alerts that a silence suppressed or marked, counted per sink.', () =>
    read().silences.map(({ id, alerts }) => ({ labels: { silence: id }, value: alerts })),
  )
  gauge('silence_in_force', '1 while a silence is active.', () =>
    read().silences.map(({ id, isInForce }) => ({ labels: { silence: id }, value: Number(isInForce) })),
  )
}
