// A connection of kafkajs ends its socket again whenever a broker cannot be reached, and each time leaves a listener on one that is closed for good.

type Connection = {
  readonly connectionStatus: string
  readonly socket?: { readonly destroyed: boolean } | undefined
  disconnect(): Promise<boolean>
}
// TypeScript requires this form of a class that is extended without being known.
type ConnectionClass = new (...given: any[]) => Connection // eslint-disable-line @typescript-eslint/no-explicit-any

export const disconnectOnce = (original: unknown): unknown =>
  class extends (original as ConnectionClass) {
    /** While it connects its status is `disconnected`, too, but its socket is open. */
    override async disconnect(): Promise<boolean> {
      const isClosed = this.connectionStatus === 'disconnected' && this.socket?.destroyed !== false
      return isClosed || super.disconnect()
    }
  }
