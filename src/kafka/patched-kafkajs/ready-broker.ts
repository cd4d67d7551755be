// A broker of kafkajs counts as connected once one of its two sockets is open. If connecting failed after that, the list of versions was
// never taken over, and every request through it fails with "Broker not connected", for good: ours is connected once it can be asked.
// In kafkajs callers connect one after the other, and each one that fails closes the connection that the next is just opening: a broker that is
// asked more often than an attempt takes is then never reached again. Ours makes one attempt for all callers.

type Broker = { readonly lookupRequest: unknown; isConnected(): boolean; connect(): Promise<void> }
// TypeScript requires this form of a class that is extended without being known.
type BrokerClass = new (...given: any[]) => Broker // eslint-disable-line @typescript-eslint/no-explicit-any

export const readyBroker = (original: unknown): unknown => {
  const BrokerOfKafkajs = original as BrokerClass
  /** What a new broker has until it has connected; kafkajs does not export it. */
  const withoutVersions = new BrokerOfKafkajs({
    connectionPool: { host: '', port: 0, connectionTimeout: 0 },
    logger: { namespace: () => undefined },
  }).lookupRequest
  return class extends BrokerOfKafkajs {
    #connecting: Promise<void> | undefined

    override connect(): Promise<void> {
      this.#connecting ??= super.connect().finally(() => {
        this.#connecting = undefined
      })
      return this.#connecting
    }

    override isConnected(): boolean {
      return this.lookupRequest !== withoutVersions && super.isConnected()
    }
  }
}
