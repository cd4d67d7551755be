// Requests as they go over the wire, held against those that kafkajs writes by itself.
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { encodeProduce } from '../../../../src/kafka/wire/encode-produce.js'
import { encodeRequest } from '../../../../src/kafka/wire/encode-request.js'

type Request = Parameters<typeof encodeRequest>[0]['request']
const require = createRequire(import.meta.url)

/** As kafkajs ships it, also where its parts have been replaced by ours in this process. */
const original = (path: string): unknown => {
  const name = require.resolve(path)
  const inUse = require.cache[name]
  Reflect.deleteProperty(require.cache, name)
  const loaded: unknown = require(name)
  if (inUse) require.cache[name] = inUse
  return loaded
}
const theirs = original('kafkajs/src/protocol/request') as (given: object) => Promise<{ readonly buffer: Buffer }>
const metadata = original('kafkajs/src/protocol/requests/metadata/v5/request') as (given: object) => Request
const theirProduce = original('kafkajs/src/protocol/requests/produce/v3/request') as (given: object) => Request

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
