// A connection of kafkajs is used again after it broke, and what was left of it spoils the next one: the first bytes of an answer that was cut
// off, and a listener for every attempt to end a socket that is closed for good.

type Connection = {
  readonly connectionStatus: string
  readonly socket?: { readonly destroyed: boolean } | undefined
  chunks: Buffer[]
  bytesBuffered: number
  bytesNeeded: number
  isConnected(): boolean
  connect(): Promise<boolean>
  disconnect(): Promise<boolean>
}
// TypeScript requires this form of a class that is extended without being known.
type ConnectionClass = new (...given: any[]) => Connection // eslint-disable-line @typescript-eslint/no-explicit-any

/** Of an answer, before the answer itself. */
const sizeBytes = 4

export const freshConnection = (original: unknown): unknown =>
  class extends (original as ConnectionClass) {
    override async connect(): Promise<boolean> {
      if (!this.isConnected()) {
        this.chunks = []
        this.bytesBuffered = 0
        this.bytesNeeded = sizeBytes
      }
      return super.connect()
    }

    /** While it connects its status is `disconnected`, too, but its socket is open. */
    override async disconnect(): Promise<boolean> {
      const isClosed = this.connectionStatus === 'disconnected' && this.socket?.destroyed !== false
      return isClosed || super.disconnect()
    }
  }
