// Wraps a pipeline to log our own public addresses that address translation reveals, if gate.ownRanges is empty.
import { createOwnAddresses } from '../domain/own-addresses.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { Emit } from '../telemetry/event.js'

export const watchOwnAddresses = (pipeline: Pipeline, emit: Emit): Pipeline => {
  const own = createOwnAddresses()
  return (chunk, use, wait) =>
    pipeline(
      chunk,
      (one, place) => {
        const address = own.see(one.extraction)
        if (address !== undefined)
          emit({ event: 'own_address_seen', address, origin: one.origin, suggested: own.ranges() })
        use(one, place)
      },
      wait,
    )
}
