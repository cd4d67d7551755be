// Metrics per database of intel.geo: how old it is, and how often a changed file was refused.
import type { Define } from './define-metrics.js'

/** What is measured of a database. */
export type GeoMetrics = {
  readonly file: string
  /** Epoch milliseconds when its maker built the version in use. */
  readonly built: number
  readonly refusals: number
}

export const defineGeoMetrics = (
  { counter, gauge }: Define,
  databases: () => readonly GeoMetrics[],
  now: () => number,
): void => {
  gauge('geo_database_age_seconds', 'Time since the version of a database in use was built by its maker.', () =>
    databases().map(({ file, built }) => ({ labels: { file }, value: Math.max(0, now() - built) / 1000 })),
  )
  counter(
    'geo_database_refusals',
    'Changed files of a database that were refused; the last good one stays in use.',
    () => databases().map(({ file, refusals }) => ({ labels: { file }, value: refusals })),
  )
}
