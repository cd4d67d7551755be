// The public library.
export type { Annotation } from './domain/annotation.js'
export type { Indicator } from './domain/indicator.js'
