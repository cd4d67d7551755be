// What a sender does after a send that failed: only what was not acknowledged is sent again, by a new producer.
import type { Kafka } from 'kafkajs'
import { describe, expect, it } from 'vitest'
import { claimTransactions, openIdempotentSender } from '../../../src/kafka/producers.js'
import type { Outgoing } from '../../../src/kafka/records.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'

const record = (partition: number, value: string): Outgoing => ({
  topic: 'out',
  partition,
  key: null,
  value: Buffer.from(value),
  headers: [],
  timestamp: '1000',
})
const records = [record(0, 'a'), record(1, 'b'), record(0, 'c'), record(2, 'd')]

/** Each producer fails with one of the errors; the ones after them succeed. `sent` has the values of each producer's send. */
const failing = (...errors: readonly object[]): { kafka: Kafka; sent: string[][] } => {
  const sent: string[][] = []
  const producer = (): object => ({
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    sendBatch: ({ topicMessages }: { topicMessages: { messages: { value: Buffer }[] }[] }) => {
      sent.push(topicMessages.flatMap(({ messages }) => messages.map(({ value }) => String(value))))
      const error = errors[sent.length - 1]
      return error ? Promise.reject(Object.assign(new Error('failed'), error)) : Promise.resolve()
    },
  })
  return { kafka: { producer } as unknown as Kafka, sent }
}
const partition = (number: number): object => ({ topic: 'out', partition: number })

describe('what a failed send leaves', () => {
  it('is sent by another producer, without the partitions that were acknowledged', async () => {
    const { kafka, sent } = failing(
      { type: 'NOT_LEADER_FOR_PARTITION', acknowledged: [partition(0)] },
      { name: 'KafkaJSConnectionError' },
      { name: 'KafkaJSConnectionError', acknowledged: [partition(2)] },
    )
    const causes: string[] = []
    const sender = openIdempotentSender(kafka, 'none', (left, cause) => causes.push(`${left.length} ${cause}`))
    expect(await sender.send(records)).toBe('acknowledged')
    expect(sent).toEqual([['a', 'b', 'c', 'd'], ['b', 'd'], ['b', 'd'], ['b']])
    expect(causes).toEqual([
      '2 NOT_LEADER_FOR_PARTITION: failed',
      '2 KafkaJSConnectionError: failed',
      '1 KafkaJSConnectionError: failed',
    ])
  })

  it('is named where a record is refused', async () => {
    const { kafka } = failing({ type: 'MESSAGE_TOO_LARGE', acknowledged: [partition(0), partition(2)] })
    const sender = openIdempotentSender(kafka, 'none', () => undefined)
    expect(await sender.send(records)).toEqual({ refused: 'MESSAGE_TOO_LARGE', left: [records[1]] })
  })
})

describe('a connection that a sender opens', () => {
  /** `connect` gets the number of the producer; `log` has what is done with each. */
  const logged = (connect: (nth: number) => Promise<void>): { readonly kafka: Kafka; readonly log: string[] } => {
    const log: string[] = []
    let made = 0
    const producer = (): object => {
      const nth = ++made
      return {
        connect: () => connect(nth),
        disconnect: () => Promise.resolve(void log.push(`disconnect ${nth}`)),
        sendBatch: () => Promise.resolve(void log.push(`send ${nth}`)),
      }
    }
    return { kafka: { producer } as unknown as Kafka, log }
  }

  it('is closed where it fails half way', async () => {
    const { kafka, log } = logged((nth) =>
      nth === 1
        ? Promise.reject(Object.assign(new Error('away'), { name: 'KafkaJSConnectionError' }))
        : Promise.resolve(),
    )
    expect(await openIdempotentSender(kafka, 'none', () => undefined).send(records)).toBe('acknowledged')
    expect(log).toEqual(['disconnect 1', 'send 2'])
  })

  it('is closed, and nothing is sent, where the sender is closed meanwhile', async () => {
    let connected = (): void => undefined
    const { kafka, log } = logged(() => new Promise((resolve) => (connected = resolve)))
    const sender = openIdempotentSender(kafka, 'none', () => undefined)
    const sent = sender.send(records)
    await sender.close()
    connected()
    await expect(sent).rejects.toThrow('closed while sending')
    expect(log).toEqual(['disconnect 1'])
  })
})

describe('a record whose time the broker refuses', () => {
  type Sent = { readonly topicMessages: readonly { readonly messages: readonly Outgoing[] }[] }
  const now = 1_800_000_000_000
  const refused = { type: 'INVALID_TIMESTAMP' }
  const at = (timestamp: number): Outgoing => ({ ...record(1, 'b'), timestamp: String(timestamp) })

  /** What is sent in each attempt, by value and time. */
  const send = async (
    given: readonly Outgoing[],
    ...errors: readonly (object | undefined)[]
  ): Promise<{
    readonly result: unknown
    readonly sent: readonly string[]
    readonly told: readonly TelemetryEvent[]
  }> => {
    const sent: string[] = []
    const told: TelemetryEvent[] = []
    const sendBatch = ({ topicMessages }: Sent): Promise<void> => {
      const messages = topicMessages.flatMap((one) => one.messages)
      sent.push(
        messages.map(({ value, timestamp, headers }) => `${String(value)} ${timestamp} ${headers.join()}`).join('; '),
      )
      const error = errors[sent.length - 1]
      return error ? Promise.reject(Object.assign(new Error('failed'), error)) : Promise.resolve()
    }
    const producer = (): object => ({
      connect: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      sendBatch,
    })
    const surroundings = { emit: (event: TelemetryEvent) => void told.push(event), now: () => now }
    const kafka = { producer } as unknown as Kafka
    const result = await openIdempotentSender(kafka, 'none', () => undefined, Date.now, surroundings).send(given)
    return { result, sent, told }
  }

  it('although it is recent is written without one, which is said, and its header has it', async () => {
    const { result, sent, told } = await send([at(now)], refused)
    expect(result).toBe('acknowledged')
    expect(sent).toEqual([`b ${now} `, `b -1 threatweave-timestamp,${now}`])
    expect(told).toEqual([{ event: 'written_without_time', topic: 'out', records: 1 }])
  })

  it('keeps the header that it has', async () => {
    const letter = { ...at(now), headers: [['threatweave-timestamp', Buffer.from('7')] as const] }
    expect((await send([letter], refused)).sent.at(-1)).toBe('b -1 threatweave-timestamp,7')
  })

  it('because it is old is refused', async () => {
    const old = at(now - 7_200_000)
    const { result, sent } = await send([old], refused)
    expect(result).toEqual({ refused: 'INVALID_TIMESTAMP', left: [old] })
    expect(sent).toHaveLength(1)
  })

  it('is sent without what was acknowledged with it, in every attempt', async () => {
    const three = [
      { ...record(0, 'a'), timestamp: String(now) },
      at(now),
      { ...record(2, 'c'), timestamp: String(now) },
    ]
    const lost = { name: 'KafkaJSConnectionError', acknowledged: [partition(2)] }
    const { sent } = await send(three, { ...refused, acknowledged: [partition(0)] }, lost)
    expect(sent.map((attempt) => attempt.split('; ').map((one) => one[0]))).toEqual([
      ['a', 'b', 'c'],
      ['b', 'c'],
      ['b'],
    ])
  })
})

describe('a transactional id', () => {
  const owner = { prefix: 'threatweave', groupId: 'soc', topic: 'firewall', partition: 3 }
  /** Those that a claim begins with. */
  const claimed = async (names: Partial<typeof owner>): Promise<readonly string[]> => {
    const begun: string[] = []
    const producer = ({ transactionalId }: { readonly transactionalId: string }): object => ({
      connect: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      transaction: () => Promise.resolve(void begun.push(transactionalId)),
    })
    await claimTransactions({ producer } as unknown as Kafka, { ...owner, ...names })
    return begun
  }

  it('is that of one group and topic, whatever hyphens their names have, and begins with their names', async () => {
    expect(await claimed({})).toEqual(['threatweave-soc-firewall-3'])
    const [one] = await claimed({ groupId: 'soc', topic: 'collide-x' })
    const [other] = await claimed({ groupId: 'soc-collide', topic: 'x' })
    expect(one).not.toBe(other)
    for (const id of [one, other]) expect(id).toMatch(/^threatweave-soc-collide-x-3-[0-9a-f]{12}$/)
  })

  it('is claimed together with the one that an older version has', async () => {
    expect((await claimed({ topic: 'fw-eu' }))[1]).toBe('threatweave-soc-fw-eu-3')
  })
})
