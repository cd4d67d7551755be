// Patches the connection of kafkajs to start fresh after it broke.
// kafkajs reuses the object, so leftovers spoil the next connection: the first bytes of a truncated answer, a listener for every attempt
// to end a closed socket, and late events of the former socket. It also logs in again ten seconds before a session ends: in a session of
// ten seconds that is before every request, which brokers refuse.
import type { Socket } from 'node:net'

type Connection = {
  readonly connectionStatus: string
  readonly socket?: Socket | undefined
  chunks: Buffer[]
  bytesBuffered: number
  bytesNeeded: number
  /** From `process.hrtime`; null before a login. */
  readonly authenticatedAt: [number, number] | null
  /** Milliseconds, from the broker; 0 for an unlimited session. */
  readonly sessionLifetime: { toNumber(): number }
  isAuthenticated(): boolean
  isConnected(): boolean
  connect(): Promise<boolean>
  disconnect(): Promise<boolean>
}
// TypeScript requires this form of a class that is extended without being known.
type ConnectionClass = new (...given: any[]) => Connection // eslint-disable-line @typescript-eslint/no-explicit-any

/** The length prefix of an answer. */
const sizeBytes = 4

/** Detaches listeners, because late events of an ended socket would end the next one. */
const leave = (socket: Socket): void => {
  if (!socket.writableEnded || socket.connecting) return
  for (const name of ['data', 'end', 'error', 'timeout']) socket.removeAllListeners(name)
  socket.on('error', () => undefined) // not used again, so errors do not matter
  socket.destroy()
}

/** The share of a session after which to log in again: the earliest choice of the Java client. */
const sessionShare = 0.85
/** Brokers refuse a second login within a second. */
const leastSessionMs = 1_100

export const freshConnection = (original: unknown): unknown =>
  class extends (original as ConnectionClass) {
    #disconnecting: Promise<boolean> | undefined

    override async connect(): Promise<boolean> {
      if (!this.isConnected()) {
        if (this.socket) leave(this.socket)
        this.chunks = []
        this.bytesBuffered = 0
        this.bytesNeeded = sizeBytes
      }
      return super.connect()
    }

    /** Also needed while connecting, when the status is `disconnected` but the socket is open. */
    override async disconnect(): Promise<boolean> {
      const isClosed = this.connectionStatus === 'disconnected' && this.socket?.destroyed !== false
      if (isClosed) return true
      // Shared by all callers, because each failed caller disconnects and would add a listener.
      this.#disconnecting ??= super.disconnect().finally(() => {
        this.#disconnecting = undefined
      })
      return this.#disconnecting
    }

    override isAuthenticated(): boolean {
      if (this.authenticatedAt === null) return false
      const lifeMs = this.sessionLifetime.toNumber()
      if (lifeMs === 0) return true
      const [seconds, nanoseconds] = process.hrtime(this.authenticatedAt)
      return seconds * 1_000 + nanoseconds / 1_000_000 < Math.max(sessionShare * lifeMs, leastSessionMs)
    }
  }
