// Replaces a peer by a keyed hash, so that the gateway can share calls fairly between peers without learning inside addresses.
import { createHmac } from 'node:crypto'

/** Workers with the same key produce the same hash. */
export const createHidePeer =
  (key: string) =>
  (peer: string): string =>
    createHmac('sha256', key).update(`peer\0${peer}`).digest('base64url').slice(0, 16)
