// What the program says about itself: a closed union of past-tense events, each mapped once to a log line and a metric.

export type TelemetryEvent =
  | { readonly event: 'started'; readonly command: string }
  | { readonly event: 'stopped'; readonly command: string; readonly cause: string }

export type Tell = (event: TelemetryEvent) => void

export const tellNobody: Tell = () => undefined
