// Where an address is and whose network it is in, as local databases say.
import type { Indicator } from './indicator.js'

export type Geo = {
  /** ISO 3166-1, two capital letters. */
  readonly country?: string
  /** The autonomous system, and who runs it. */
  readonly as?: { readonly number: number; readonly name?: string }
}

export type GeoSource = {
  /** Nothing for a name, for an address that is not public, and where no database has it. */
  readonly of: (indicator: Indicator) => Geo | undefined
  /** Grows with every database that is replaced: what was said before may be wrong since. */
  readonly version: () => number
}

type GeoStatus = {
  readonly file: string
  /** kept: what was read before is in use, because the newest file was refused. */
  readonly state: 'loaded' | 'kept'
  /** What its maker calls it, and when he built what is in use, in epoch milliseconds. */
  readonly type: string
  readonly built: number
  /** How often a changed file was refused. */
  readonly refusals: number
  /** Why the newest file is refused. */
  readonly problem?: string
}

export type GeoDatabases = GeoSource & {
  readonly status: () => readonly GeoStatus[]
  /** Stops watching; resolves when nothing is being read. */
  readonly close: () => Promise<void>
}
