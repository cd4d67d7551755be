// A broker behind a proxy, for tests that lose its answers or stop it.
import { startBroker, type Broker } from '../../src/demo/broker.js'
import { startDroppingProxy, type DroppingProxy } from './dropping-proxy.js'

export type BrokerBehindProxy = {
  readonly broker: Broker
  readonly proxy: DroppingProxy
  /** Where clients reach it. */
  readonly through: string
  readonly close: () => Promise<void>
}

/** Once armed, the proxy drops every so many answers to a produce request. */
export const startBrokerBehindProxy = async (every: number): Promise<BrokerBehindProxy> => {
  const proxy = await startDroppingProxy(every)
  const broker = await startBroker({
    env: { ...process.env, KAFKA_BROKERS: undefined },
    say: () => undefined,
    advertisedPort: proxy.port,
  })
  if ('missing' in broker) throw new Error(broker.missing)
  proxy.to(Number(broker.plain.split(':')[1]))
  const close = async (): Promise<void> => {
    await proxy.close()
    await broker.stop()
  }
  return { broker, proxy, through: `127.0.0.1:${proxy.port}`, close }
}
