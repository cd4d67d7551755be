// A broker whose first connect breaks off after a socket was opened, and one that several connect at once.
import { expect, it } from 'vitest'
import { readyBroker } from '../../../../src/kafka/patched-kafkajs/ready-broker.js'
import { original } from '../../../support/original-kafkajs.js'

type Broker = {
  readonly isConnected: () => boolean
  readonly connect: () => Promise<void>
  readonly lookupRequest: (key: number, versions: object) => unknown
}
type BrokerClass = new (options: object) => Broker

const Original = original('broker/index.js') as BrokerClass
const Ours = readyBroker(Original) as BrokerClass

const connection = { getSupportAuthenticationProtocol: () => false, authenticate: () => Promise.resolve() }
const brokerOf = (
  type: BrokerClass,
  pool: { isConnected: () => boolean; getConnection: () => Promise<unknown> },
): Broker =>
  new type({
    versions: {},
    logger: { namespace: () => undefined },
    connectionPool: { host: 'broker', port: 9092, connectionTimeout: 1_000, setVersions: () => undefined, ...pool },
  })

/** The broker after a connect that failed with an open socket and one that found it open. */
const afterBrokenConnect = async (type: BrokerClass): Promise<Broker> => {
  let connects = 0
  const broker = brokerOf(type, {
    isConnected: () => connects > 0,
    getConnection: () =>
      ++connects === 1 ? Promise.reject(new Error('the connection was cut')) : Promise.resolve(connection),
  })
  await expect(broker.connect()).rejects.toThrow('the connection was cut')
  await broker.connect()
  return broker
}

it('can be asked once it has connected again; the original never can', async () => {
  const asked = (broker: Broker): unknown => broker.lookupRequest(0, { versions: [] })
  const never = await afterBrokenConnect(Original)
  expect(never.isConnected()).toBe(true)
  expect(() => asked(never)).toThrow('Broker not connected')
  const ours = await afterBrokenConnect(Ours)
  expect(ours.isConnected()).toBe(true)
  expect(() => asked(ours)).not.toThrow('Broker not connected')
})

/**
 * What becomes of two who connect at once while nobody answers, and of one who does so afterwards; whoever fails ends what is open, as kafkajs
 * does it.
 */
const connectedByThree = async (type: BrokerClass): Promise<readonly string[]> => {
  let attempts = 0
  let isOpen = false
  let end = (): void => undefined
  let timeOut = (): void => undefined
  const broker = brokerOf(type, {
    isConnected: () => isOpen,
    getConnection: () => {
      if (++attempts > 1)
        return new Promise((resolve, reject) => {
          end = () => reject(new Error('ended by another'))
          setTimeout(() => {
            isOpen = true
            resolve(connection)
          }, 1)
        })
      return new Promise((_, reject) => {
        timeOut = () => reject(new Error('nobody answers'))
      })
    },
  })
  const connect = (): Promise<string> =>
    broker.connect().then(
      () => 'connected',
      (error: unknown) => {
        end()
        return (error as Error).message
      },
    )
  const [first, second] = [connect(), connect()]
  await new Promise(setImmediate)
  timeOut()
  return [await first, await second, await connect()]
}

it('has one attempt for all who wait; of the original whoever fails ends the attempt of the next', async () => {
  expect(await connectedByThree(Original)).toEqual(['nobody answers', 'ended by another', 'connected'])
  expect(await connectedByThree(Ours)).toEqual(['nobody answers', 'nobody answers', 'connected'])
})
