// kafkajs's own cluster and pool of brokers, whose brokers are reached but do not answer, or are not reached.
import { describe, expect, it } from 'vitest'
import { failureOf } from '../../../../src/kafka/failure.js'
import { keepLastFailure } from '../../../../src/kafka/patched-kafkajs/keep-last-failure.js'
import { original } from '../../../support/original-kafkajs.js'

type Broker = { readonly isConnected: () => boolean; readonly metadata: () => Promise<unknown> }
type Pool = {
  brokers: Record<string, Broker>
  readonly withBroker: (ask: (which: { readonly broker: Broker }) => Promise<unknown>) => Promise<unknown>
}

const nothing = (): void => undefined
const logger = { info: nothing, debug: nothing, warn: nothing, error: nothing, namespace: () => logger }
const BrokerPool = keepLastFailure(original('cluster/brokerPool.js')) as new (options: object) => Pool
const poolOf = (...brokers: readonly (() => Promise<unknown>)[]): Pool => {
  const pool = new BrokerPool({ logger })
  pool.brokers = Object.fromEntries(brokers.map((metadata, nth) => [nth, { isConnected: () => true, metadata }]))
  return pool
}
class Failure extends Error {
  constructor(override readonly name: string) {
    super(name)
  }
}
const failing = (name: string) => (): Promise<unknown> => Promise.reject(new Failure(name))
const ask = ({ broker }: { readonly broker: Broker }): Promise<unknown> => broker.metadata()

describe('a question to any broker', () => {
  it('fails as an outage if the connection to each of them is lost', async () => {
    const pool = poolOf(failing('KafkaJSConnectionClosedError'), failing('KafkaJSConnectionClosedError'))
    const failure: unknown = await pool.withBroker(ask).catch((error: unknown) => error)
    expect(failureOf(failure)).toMatchObject({ kind: 'unavailable', name: 'KafkaJSConnectionClosedError' })
  })

  it('is answered by the one that can', async () => {
    const pool = poolOf(failing('KafkaJSConnectionClosedError'), () => Promise.resolve('answer'))
    expect(await pool.withBroker(ask)).toBe('answer')
  })
})

/** The addresses that are tried when three callers connect at once, and the last of three does not answer. */
const triedByThree = async (type: unknown): Promise<readonly string[]> => {
  const tried: string[] = []
  const hosts = ['c', 'a', 'b']
  let nth = 0
  const pool = new (type as new (options: object) => { connect: () => Promise<void>; createBroker: unknown })({
    logger,
    retry: { initialRetryTime: 1, retries: 3 },
    connectionPoolBuilder: { build: () => Promise.resolve({ host: hosts[nth++ % hosts.length] }) },
  })
  let waiting: ((error: Error) => void)[] = []
  pool.createBroker = ({ connectionPool: { host } }: { readonly connectionPool: { readonly host: string } }) => ({
    isConnected: () => false,
    disconnect: () => Promise.resolve(),
    connect: () => {
      tried.push(host)
      if (host !== 'c') return Promise.resolve()
      // One attempt for all, as ours have it.
      return new Promise<void>((_, reject) => {
        waiting.push(reject)
        setTimeout(() => {
          const failed = waiting
          waiting = []
          for (const fail of failed)
            fail(Object.assign(new Error('nobody answers'), { name: 'KafkaJSConnectionError', retriable: true }))
        }, 5)
      })
    },
  })
  await Promise.all([pool.connect(), pool.connect(), pool.connect()])
  return tried
}

it('three callers that connect at once try one address after the other, unlike those of the original', async () => {
  expect(await triedByThree(BrokerPool)).toEqual(['c', 'a'])
  expect(await triedByThree(original('cluster/brokerPool.js'))).not.toEqual(['c', 'a'])
})
