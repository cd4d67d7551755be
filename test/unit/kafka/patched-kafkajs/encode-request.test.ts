// Requests as they go over the wire, held against those that kafkajs writes by itself.
import { describe, expect, it } from 'vitest'
import { encodeProduce } from '../../../../src/kafka/patched-kafkajs/encode-produce.js'
import { encodeRequest } from '../../../../src/kafka/patched-kafkajs/encode-request.js'
import { original } from '../../../support/original-kafkajs.js'

type Request = Parameters<typeof encodeRequest>[0]['request']

const theirs = original('protocol/request') as (given: object) => Promise<{ readonly buffer: Buffer }>
const metadata = original('protocol/requests/metadata/v5/request') as (given: object) => Request
const theirProduce = original('protocol/requests/produce/v3/request') as (given: object) => Request

const value = Buffer.from(JSON.stringify({ src_ip: '192.0.2.1', note: 'grüß' }))
const produce = {
  acks: -1,
  timeout: 30_000,
  transactionalId: 'a-transaction',
  producerId: 7,
  producerEpoch: 2,
  compression: 0,
  topicData: ['events', 'dead-letters'].map((topic) => ({
    topic,
    partitions: [0, 3].map((partition) => ({ partition, firstSequence: 5, messages: [] as object[] })),
  })),
}
const withMessages = (messages: readonly object[]): typeof produce => ({
  ...produce,
  topicData: produce.topicData.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((one) => ({ ...one, messages: [...messages] })),
  })),
})

describe('a request', () => {
  it.each([['threatweave'], ['ein-Rüde'], [null]])('of client %j is what kafkajs would have sent', async (clientId) => {
    const request = metadata({ topics: ['firewall'], allowAutoTopicCreation: false })
    const given = { correlationId: 77, clientId, request }
    const ours = await encodeRequest(given)
    expect(ours.buffer.equals((await theirs(given)).buffer)).toBe(true)
  })

  it('that produces is what kafkajs would have sent, in one buffer', async () => {
    const timestamp = '1700000000000'
    const ours = encodeProduce(
      withMessages([{ key: null, value, headers: [], timestamp }]) as unknown as Parameters<typeof encodeProduce>[0],
    ) as unknown as Request
    const expected = theirProduce(withMessages([{ key: null, value, headers: {}, timestamp }]))
    const about = { correlationId: 78, clientId: 'threatweave' }
    const sent = await encodeRequest({ ...about, request: ours })
    expect(sent.buffer.equals((await theirs({ ...about, request: expected })).buffer)).toBe(true)
    const encoded = await ours.encode(25)
    expect(encoded.whole?.length).toBe(encoded.buffer.length + 25)
  })
})
