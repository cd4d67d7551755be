// A broker behind a proxy, for tests that lose or damage its answers.
import { startBroker, type Broker } from '../../src/parts/demo/broker.js'
import { startFaultyProxy, type FaultyProxy } from './faulty-proxy.js'

export type BrokerBehindProxy = {
  readonly broker: Broker
  readonly proxy: FaultyProxy
  /** The address for clients. */
  readonly through: string
  readonly close: () => Promise<void>
}

export const startBrokerBehindProxy = async (): Promise<BrokerBehindProxy> => {
  const proxy = await startFaultyProxy()
  const broker = await startBroker({
    env: { ...process.env, KAFKA_BROKERS: undefined },
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
