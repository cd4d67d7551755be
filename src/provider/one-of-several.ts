// Several gateways as one client: where one cannot be reached, the next is asked.
import type { Client } from './client.js'

/** `random`: from 0 up to 1, so that not all begin with the same. */
export const oneOfSeveral = (clients: readonly [Client, ...Client[]], random: () => number): Client => {
  let at = Math.floor(random() * clients.length)
  let isClosed = false
  const current = (): Client => clients[at] ?? clients[0]
  /** Unless somebody else has moved on already. */
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
      // Only gateways are several.
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
