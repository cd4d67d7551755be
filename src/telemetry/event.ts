// What the program says about itself: a closed union of past-tense events, each mapped once to a log line and a metric.

export type TelemetryEvent =
  | { readonly event: 'started'; readonly command: string }
  | { readonly event: 'stopped'; readonly command: string; readonly cause: string }
  | {
      readonly event: 'feed_loaded'
      readonly feed: string
      readonly addresses: number
      readonly names: number
      /** Memory of its index. */
      readonly bytes: number
      readonly ms: number
      /** Lines that are no entry, and dangerous entries where those may be skipped; the first of them is told. */
      readonly skipped: number
      readonly first?: { readonly file: string; readonly line?: number; readonly message: string }
    }
  | {
      readonly event: 'feed_refused'
      readonly feed: string
      readonly file: string
      readonly line?: number
      readonly message: string
      /** Whether what was loaded before stays in use. */
      readonly kept: boolean
    }

export type Tell = (event: TelemetryEvent) => void

export const tellNobody: Tell = () => undefined
