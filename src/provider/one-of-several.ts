// Several gateways as one client, with failover to the next one.
import type { Client } from './client.js'

/** `random`: from 0 up to 1; spreads clients over the gateways. */
export const oneOfSeveral = (clients: readonly [Client, ...Client[]], random: () => number): Client => {
  let at = Math.floor(random() * clients.length)
  let isClosed = false
  const current = (): Client => clients[at] ?? clients[0]
  /** Does nothing if a concurrent call has already switched. */
  const moveOn = (from: Client): void => {
    if (from === current()) at = (at + 1) % clients.length
  }
  const callNamed: Client['callNamed'] = async (name, parameters) => {
    for (let tries = 1; ; tries++) {
      const client = current()
      const reply = await client.callNamed(name, parameters)
      if (reply.status === 'answer' || reply.failure.isUnsent !== true || isClosed) return reply
      moveOn(client)
      if (tries === clients.length) return reply
    }
  }
  return {
    call: callNamed,
    callNamed,
    bulk: {
      // Several URLs are always gateways, which offer bulk.
      isOffered: () => !isClosed,
      isOneOfSeveral: () => true,
      connect: async (settings) => {
        for (let tries = 1; ; tries++) {
          const client = current()
          try {
            return await client.bulk.connect(settings, { isOneOfSeveral: true })
          } catch (error) {
            moveOn(client)
            if (tries === clients.length) throw error
          }
        }
      },
    },
    reader: clients[0].reader,
    redact: clients[0].redact,
    close: async () => {
      isClosed = true
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}
