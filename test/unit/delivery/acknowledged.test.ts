// At least once: in which order what belongs together is written, for a kill may come after each part.
import type { Kafka } from 'kafkajs'
import { expect, it, vi } from 'vitest'
import { atLeastOnce } from '../../../src/delivery/acknowledged.js'
import type { Fetched } from '../../../src/kafka/fetched.js'
import type { EventOut } from '../../../src/pipeline/pipeline.js'
import { assignedAs } from '../../support/assigned.js'
import type { Delivery, DeliveryOptions, PartitionDelivery } from '../../../src/delivery/delivery.js'

const done = (): Promise<void> => Promise.resolve()
const record = { key: null, value: Buffer.from('{}'), headers: [], timestamp: '0' }
const to = (topic: string): typeof record & { topic: string; partition: number } => ({ ...record, topic, partition: 0 })

type Sent = { readonly topicMessages: readonly { readonly topic: string }[] }

const event = { bytes: () => Buffer.from('{}') } as unknown as EventOut

/** A delivery whose producers send to this. */
const deliveryTo = (sendBatch: (sent: Sent) => Promise<void>): Delivery => {
  const producer = { connect: done, disconnect: done, sendBatch }
  const options: Partial<Record<keyof DeliveryOptions, unknown>> = {
    connect: () => ({ producer: () => producer }) as unknown as Kafka,
    settings: {
      limits: { chunkEvents: 10, chunkBytes: 1_000, chunkDeadlineMs: 60_000 },
      output: { compression: 'none' },
      sightingsTopic: 'sightings',
    },
    pipeline: (events: readonly unknown[], use: (event: EventOut, nth: number) => void) => {
      events.forEach((_, nth) => use(event, nth))
      return true
    },
    waitOf: () => ({ turn: () => undefined }),
    form: {
      target: {
        placement: 'json',
        key: 'threatweave',
        topic: 'output',
        deadLetterTopic: 'dead',
        maxBytes: 1_000,
        maxDeadLetterBytes: 1_000,
        outputPartition: () => 0,
        deadLetterPartition: () => 0,
      },
      max: { count: 10, bytes: 1_000 },
      emit: () => undefined,
      now: () => 0,
      mayAlert: () => true,
    },
    brokers: { reachableMs: () => 0 },
    startingOffsets: () =>
      Promise.resolve({ topicId: 'id', offsets: new Map(), committed: new Map(), former: new Set() }),
    emit: () => undefined,
  }
  return atLeastOnce(options as unknown as DeliveryOptions)
}

const open = (delivery: Delivery, partition = 0, proveMembership = done): PartitionDelivery =>
  delivery.open(assignedAs({ topic: 'input', partition, proveMembership }), {
    progress: {
      chunkBegan: () => undefined,
      chunkEnded: () => undefined,
      moved: () => undefined,
      close: () => undefined,
    },
    takenOver: () => undefined,
    unclaimed: () => undefined,
    opened: () => Promise.resolve(undefined),
  })

const topicsOf = ({ topicMessages }: Sent): readonly string[] => topicMessages.map(({ topic }) => topic)

it('an event that waits for an answer is noted, and one that is accused is alerted on, before it is written', async () => {
  const written: string[] = []
  const delivery = deliveryTo((sent) => {
    written.push(...topicsOf(sent))
    return done()
  })
  const fetched: Fetched = {
    topic: 'input',
    partition: 0,
    name: 'input/0',
    records: [{ ...to('input'), offset: '0' }],
    isReset: false,
    lag: 0,
    generation: 1,
    commit: done,
    goesOn: () => true,
    resolve: () => written.push('resolved'),
  }
  const partition = open(delivery)
  await partition.claim()
  await partition.deliver(fetched, {
    chunk: () => ({
      see: () => undefined,
      records: () => [to('alerts'), to('sightings')],
      committed: () => written.push('committed'),
    }),
  })
  expect(written).toEqual(['alerts', 'sightings', 'output', 'resolved', 'committed'])
  await delivery.close()
})

it('what follows later is acknowledged before the note that it was written is sent', async () => {
  const sent: string[] = []
  const acknowledge: (() => void)[] = []
  const delivery = deliveryTo((batch) => {
    sent.push(topicsOf(batch).join('+'))
    return new Promise((resolve) => acknowledge.push(resolve))
  })
  const written = open(delivery).write(() => [to('sightings'), to('alerts'), to('corrections')])
  await vi.waitFor(() => expect(acknowledge).toHaveLength(1))
  expect(sent).toEqual(['alerts+corrections'])
  acknowledge[0]?.()
  await vi.waitFor(() => expect(acknowledge).toHaveLength(2))
  expect(sent).toEqual(['alerts+corrections', 'sightings'])
  acknowledge[1]?.()
  expect(await written).toBe('written')
  await delivery.close()
})

it('what follows later is composed when the write before it on behalf of the partition is through', async () => {
  const sent: string[] = []
  const acknowledge: (() => void)[] = []
  const delivery = deliveryTo((batch) => {
    sent.push(topicsOf(batch).join('+'))
    return new Promise((resolve) => acknowledge.push(resolve))
  })
  const partition = open(delivery)
  const alerts = partition.write(() => [to('alerts')])
  await vi.waitFor(() => expect(sent).toEqual(['alerts']))
  const counts = partition.write(() => [to('sightings')])
  const others = open(delivery, 1).write(() => [to('corrections')])
  await vi.waitFor(() => expect(sent).toEqual(['alerts', 'corrections']))
  for (const one of acknowledge) one()
  await vi.waitFor(() => expect(sent).toEqual(['alerts', 'corrections', 'sightings']))
  acknowledge.at(-1)?.()
  expect(await Promise.all([alerts, counts, others])).toEqual(['written', 'written', 'written'])
  await partition.close('lost')
  expect(await partition.write(() => [to('alerts')])).toBe('closed')
  await delivery.close()
})

it('what follows later waits for the proof that this process is still a member, and is composed then', async () => {
  const sent: string[] = []
  const delivery = deliveryTo((batch) => {
    sent.push(topicsOf(batch).join('+'))
    return done()
  })
  let prove = (): void => undefined
  const partition = open(delivery, 0, () => new Promise((resolve) => (prove = resolve)))
  let composed = 0
  const written = partition.write(() => {
    composed++
    return [to('corrections')]
  })
  await new Promise(setImmediate)
  expect([composed, sent]).toEqual([0, []])
  prove()
  expect([await written, sent]).toEqual(['written', ['corrections']])
  await delivery.close()
})

it('what follows later is left to the next owner by a process that is no member any more', async () => {
  const delivery = deliveryTo(() => expect.fail('nothing is sent'))
  const partition = open(delivery, 0, () => Promise.reject(new Error('unknown member')))
  const written = partition.write(() => [to('corrections')])
  await partition.close('lost')
  expect(await written).toBe('closed')
  await delivery.close()
})

it('what a broker did not acknowledge is not sent again once the partition is lost', async () => {
  let attempts = 0
  const delivery = deliveryTo(() => {
    attempts++
    void partition.close('lost')
    return Promise.reject(new Error('no answer'))
  })
  const partition = open(delivery)
  expect(await partition.write(() => [to('corrections')])).toBe('closed')
  expect(attempts).toBe(1)
  await delivery.close()
})
