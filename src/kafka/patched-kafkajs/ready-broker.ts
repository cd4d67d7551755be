// A broker of kafkajs counts as connected once one of its two sockets is open. If connecting failed after that, the list of versions was
// never taken over, and every request through it fails with "Broker not connected", for good: ours is connected once it can be asked.

type Broker = { readonly lookupRequest: unknown; isConnected(): boolean }
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
    override isConnected(): boolean {
      return this.lookupRequest !== withoutVersions && super.isConnected()
    }
  }
}
