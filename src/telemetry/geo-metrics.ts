// Metrics per database of intel.geo: its age, and how often a changed file was refused.
import type { Define } from './define-metrics.js'

/** The measurements of a database. */
export type GeoMetrics = {
  readonly file: string
  /** Epoch milliseconds of the build of the version in use. */
  readonly built: number
  readonly refusals: number
}

export const defineGeoMetrics = (
  { counter, gauge }: Define,
  databases: () => readonly GeoMetrics[],
  now: () => number,
): void => {
  gauge('geo_database_age_seconds', 'Time since the build of the database version in use.', () =>
    databases().map(({ file, built }) => ({ labels: { file }, value: Math.max(0, now() - built) / 1000 })),
  )
  counter(
    'geo_database_refusals',
    'Changed files of a database that were refused; the last good one stays in use.',
    () => databases().map(({ file, refusals }) => ({ labels: { file }, value: refusals })),
  )
}
