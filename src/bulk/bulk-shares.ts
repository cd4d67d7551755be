// What bulk connections may hold of this process, all of them together and those of one key: connections, open questions, answers that nobody reads.
import type { Duplex } from 'node:stream'
import type { Emit } from '../telemetry/event.js'

type Bound = { readonly ofKey: number; readonly inAll: number }
type BulkBounds = { readonly connections: Bound; readonly questions: Bound; readonly unreadBytes: Bound }

/** One key gets three quarters of it at most, so that it never shuts out the others. */
const bound = (inAll: number): Bound => ({ ofKey: inAll * 0.75, inAll })
const ownBounds: BulkBounds = {
  connections: bound(1_000),
  // An open question takes about 9 KB until it is answered, all calls for it included; 1 GiB is what the chart gives.
  questions: bound(60_000),
  unreadBytes: bound(64 * 1_048_576),
}

export type BulkShare = {
  /** Whether one more question may be open; if so, it has to be given back with `answered`. */
  readonly take: () => boolean
  readonly answered: () => void
  /** To be called after each write: where too much is unread, the connection with the most of it is closed. */
  readonly wrote: () => void
}

export type BulkShares = {
  /** Undefined where there may be no further connection; the share ends with the stream. */
  readonly open: (key: string, stream: Duplex) => BulkShare | undefined
}

type Connection = { readonly stream: Duplex; readonly key: Holder; unread: number }
type Holder = { readonly name: string; connections: number; questions: number; unread: number }

const holder = (name: string): Holder => ({ name, connections: 0, questions: 0, unread: 0 })

export const createBulkShares = (emit: Emit, bounds: BulkBounds = ownBounds): BulkShares => {
  const all = holder('')
  const keys = new Map<string, Holder>()
  const connections = new Set<Connection>()
  /** Whether nothing further fits; it is reported for the key that asked. */
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
  /** What was written may have been read since: a stream says how much it still holds. */
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
        // A question counts until it is answered, also where its connection is gone.
        answered: () => add('questions', key, -1),
        wrote: () => {
          measure(connection)
          if (isTooMuch(key)) closeWorst()
        },
      }
    },
  }
}
