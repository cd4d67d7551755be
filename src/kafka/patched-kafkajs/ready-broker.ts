// Patches the broker of kafkajs to count as connected only once it can take requests, and to connect once for all callers.
// In kafkajs it counts as connected as soon as one of its two sockets is open. If connecting fails after that, it never loads the list of
// versions, and every request fails with "Broker not connected" from then on. Callers also connect one after the other, and each failed
// one closes the connection that the next is opening. A broker that is asked more often than an attempt takes is then never reached
// again.

type Broker = { readonly lookupRequest: unknown; isConnected(): boolean; connect(): Promise<void> }
// TypeScript requires this form of a class that is extended without being known.
type BrokerClass = new (...given: any[]) => Broker // eslint-disable-line @typescript-eslint/no-explicit-any

export const readyBroker = (original: unknown): unknown => {
  const BrokerOfKafkajs = original as BrokerClass
  /** The value in a broker that has not connected; kafkajs does not export it. */
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
