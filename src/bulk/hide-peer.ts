// Names a peer to the gateway by a keyed hash: it shares calls fairly between peers without learning inside addresses.
import { createHmac } from 'node:crypto'

/** All workers with the same key give a peer the same name. */
export const createHidePeer =
  (key: string) =>
  (peer: string): string =>
    createHmac('sha256', key).update(`peer\0${peer}`).digest('base64url').slice(0, 16)
