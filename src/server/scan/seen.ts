// What a scan saw of its target, and what the local sources know about it.
import type { Listing } from '../../domain/finding.js'
import type { Indicator } from '../../domain/indicator.js'
import type { Place } from '../local/places.js'
import type { DnsRecords } from './resolver.js'
import type { Target } from './target.js'
import type { Visit } from './visit.js'

/** What the local sources know around a scan. */
export type ScanSurroundings = {
  readonly placeOf: (address: string) => Place | undefined
  readonly listingsOf: (indicator: Indicator) => readonly Listing[]
  /** The date a name was registered, `""` when it is on no list, nothing when no list is loaded. */
  readonly registeredOn: (host: string) => string | undefined
}

export type Seen = {
  readonly target: Target
  readonly records: DnsRecords
  readonly visits: readonly Visit[]
  /** The last visit over TLS, if there was any. */
  readonly secure: Visit | undefined
  readonly now: number
}
