// What is required of the topics, with an admin whose brokers do not agree; the requirements themselves are shown on a broker.
import type { Admin } from 'kafkajs'
import { expect, it } from 'vitest'
import { kafkaSettingsOf } from '../../../src/app/limits.js'
import { load } from '../../../src/config/load.js'
import { inspectTopics } from '../../../src/kafka/topics.js'

const settings = () => {
  const kafka = { brokers: ['localhost:9092'], input: { topics: ['in'] }, output: { topic: 'out' }, deadLetterTopic: 'dead' } // prettier-ignore
  const loaded = load({ values: { kafka }, env: {}, readFile: () => '' })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  return kafkaSettingsOf(loaded.config)
}

const adminOf = (listed: () => readonly string[], isKnown: () => boolean): Admin =>
  ({
    listTopics: () => Promise.resolve(listed()),
    fetchTopicMetadata: ({ topics }: { readonly topics: readonly string[] }) =>
      Promise.resolve({ topics: topics.map((name) => ({ name, partitions: [{}] })) }),
    describeConfigs: () =>
      isKnown()
        ? Promise.resolve({ resources: [] })
        : Promise.reject(Object.assign(new Error('unknown'), { type: 'UNKNOWN_TOPIC_OR_PARTITION' })),
  }) as unknown as Admin

it('a topic that one broker lists and another does not know yet is looked at again', async () => {
  let asked = 0
  const admin = adminOf(
    () => ['in', 'out', 'dead'],
    () => asked++ > 0,
  )
  expect((await inspectTopics(admin, settings())).remarks.filter(({ level }) => level === 'error')).toEqual([])
})

it('a topic that is deleted while it is looked at is told as one that does not exist', async () => {
  let listed = ['in', 'out', 'dead']
  const admin = adminOf(
    () => listed,
    () => {
      const isKnown = !listed.includes('in')
      listed = ['out', 'dead']
      return isKnown
    },
  )
  const { remarks } = await inspectTopics(admin, settings())
  expect(remarks).toContainEqual(expect.objectContaining({ topic: 'in', level: 'error' }))
})
