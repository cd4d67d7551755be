// The public library.
export { createEnricher, enrichTransform, type Enriched, type Enricher, type EnricherOptions } from './enricher.js'
export type { Annotation, AnnotatedIndicator } from './domain/annotation.js'
export type { Indicator } from './domain/indicator.js'
export type { Reason } from './domain/reason.js'
export type { TelemetryEvent } from './telemetry/event.js'
