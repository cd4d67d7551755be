// Limits the resources of bulk connections, in total and per key: connections, open lookups and unread answers.
import type { Duplex } from 'node:stream'
import type { Emit } from '../telemetry/event.js'

type Bound = { readonly ofKey: number; readonly inAll: number }
type BulkBounds = { readonly connections: Bound; readonly questions: Bound; readonly unreadBytes: Bound }

/** A single key gets at most three quarters, so that it cannot shut out others. */
const bound = (inAll: number): Bound => ({ ofKey: inAll * 0.75, inAll })
const ownBounds: BulkBounds = {
  connections: bound(1_000),
  // An open lookup takes about 9 KB including its calls; the chart sets a limit of 1 GiB.
  questions: bound(60_000),
  unreadBytes: bound(64 * 1_048_576),
}

export type BulkShare = {
  /** Takes a slot for a lookup, if there is one; `answered` returns it. */
  readonly take: () => boolean
  readonly answered: () => void
  /** Must be called after each write; beyond the limit of unread answers it closes the connection with the most. */
  readonly wrote: () => void
}

export type BulkShares = {
  /** Undefined if the limit of connections is reached; the share ends with the stream. */
  readonly open: (key: string, stream: Duplex) => BulkShare | undefined
}

type Connection = { readonly stream: Duplex; readonly key: Holder; unread: number }
type Holder = { readonly name: string; connections: number; questions: number; unread: number }

const holder = (name: string): Holder => ({ name, connections: 0, questions: 0, unread: 0 })

export const createBulkShares = (emit: Emit, bounds: BulkBounds = ownBounds): BulkShares => {
  const all = holder('')
  const keys = new Map<string, Holder>()
  const connections = new Set<Connection>()
  /** Whether a limit is reached; reports it for this key. */
  const isFull = (what: 'connections' | 'questions', key: Holder): boolean => {
    const { ofKey, inAll } = bounds[what]
    if (key[what] < ofKey && all[what] < inAll) return false
    emit({ event: 'bulk_limit_reached', key: key.name, reason: what })
    return true
  }
  const add = (what: 'connections' | 'questions' | 'unread', key: Holder, amount: number): void => {
    key[what] += amount
    all[what] += amount
    if (key.connections === 0 && key.questions === 0) keys.delete(key.name)
  }
  /** Updates the count of unread bytes from the buffer of the stream. */
  const measure = (connection: Connection): void => {
    const unread = connection.stream.destroyed ? 0 : connection.stream.writableLength
    add('unread', connection.key, unread - connection.unread)
    connection.unread = unread
  }
  const isTooMuch = (key: Holder): boolean =>
    key.unread > bounds.unreadBytes.ofKey || all.unread > bounds.unreadBytes.inAll
  const closeWorst = (): void => {
    for (const connection of connections) measure(connection)
    const most = [...connections].sort((one, other) => other.unread - one.unread)
    for (const connection of most) {
      if (!isTooMuch(connection.key)) continue
      emit({ event: 'bulk_limit_reached', key: connection.key.name, reason: 'unread' })
      connection.stream.destroy()
      measure(connection)
    }
  }
  return {
    open: (name, stream) => {
      const key = keys.get(name) ?? holder(name)
      if (isFull('connections', key)) return undefined
      keys.set(name, key)
      const connection: Connection = { stream, key, unread: 0 }
      connections.add(connection)
      add('connections', key, 1)
      stream.once('close', () => {
        connections.delete(connection)
        measure(connection)
        add('connections', key, -1)
      })
      return {
        take: () => {
          if (isFull('questions', key)) return false
          add('questions', key, 1)
          return true
        },
        // An open lookup counts until it is answered, even after its connection has ended.
        answered: () => add('questions', key, -1),
        wrote: () => {
          measure(connection)
          if (isTooMuch(key)) closeWorst()
        },
      }
    },
  }
}
