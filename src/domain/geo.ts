// The country and network (AS) of an address, from local databases.
import type { Indicator } from './indicator.js'

export type Geo = {
  /** ISO 3166-1, two capital letters. */
  readonly country?: string
  /** The autonomous system and its operator. */
  readonly as?: { readonly number: number; readonly name?: string }
}

export type GeoSource = {
  /** Undefined for names, for addresses that are not public, and without a database entry. */
  readonly of: (indicator: Indicator) => Geo | undefined
  /** Increases with each replaced database; cached results of earlier versions are outdated. */
  readonly version: () => number
}

type GeoStatus = {
  readonly file: string
  /** kept: the previous version is in use, because the newest file was refused. */
  readonly state: 'loaded' | 'kept'
  /** The type of the database, and its build time in epoch milliseconds. */
  readonly type: string
  readonly built: number
  /** How often a changed file was refused. */
  readonly refusals: number
  /** Why the newest file is refused. */
  readonly problem?: string
}

export type GeoDatabases = GeoSource & {
  readonly status: () => readonly GeoStatus[]
  /** Stops watching; resolves when reads in progress have ended. */
  readonly close: () => Promise<void>
}
