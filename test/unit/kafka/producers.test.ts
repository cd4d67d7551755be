// What a sender does after a send that failed: only what was not acknowledged is sent again, by a new producer.
import type { Kafka } from 'kafkajs'
import { describe, expect, it } from 'vitest'
import { claimTransactions, openIdempotentSender } from '../../../src/kafka/producers.js'
import type { Outgoing } from '../../../src/kafka/records.js'

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
