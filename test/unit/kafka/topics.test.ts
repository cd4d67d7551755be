// What is required of the topics, with an admin whose brokers do not agree; the requirements themselves are shown on a broker.
import type { Admin } from 'kafkajs'
import { expect, it } from 'vitest'
import { kafkaSettingsOf } from '../../../src/app/limits.js'
import { load } from '../../../src/config/load.js'
import { inspectTopics, missingTopics, withoutTopics } from '../../../src/kafka/topics.js'

const settings = (more: object = {}) => {
  const kafka = { brokers: ['localhost:9092'], input: { topics: ['in'] }, output: { topic: 'out' }, deadLetterTopic: 'dead', ...more } // prettier-ignore
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

const listing = (...topics: string[]): Admin =>
  adminOf(
    () => topics,
    () => true,
  )

it('a topic that nobody named may be missing: it is a warning that says what follows, and is not used', async () => {
  const from = settings({ deadLetterTopic: undefined, correctionsTopic: '' })
  const topics = await inspectTopics(listing('in', 'out', 'out-alerts'), from)
  expect(topics.remarks.filter(({ level }) => level === 'error')).toEqual([])
  expect(topics.remarks).toContainEqual({
    topic: 'out-dead-letter',
    level: 'warning',
    message:
      'does not exist, so a record that the output topic cannot take stops the worker; `threatweave check --online --create-topics` creates it',
  })
  const missing = missingTopics(from, topics)
  expect(missing).toEqual(['out-dead-letter', 'out-state'])
  expect(withoutTopics(from, missing)).toMatchObject({
    deadLetterTopic: '',
    alertsTopic: 'out-alerts',
    correctionsTopic: '',
    sightingsTopic: '',
  })
})

it('a topic that was named stops the start where it is missing', async () => {
  const { remarks } = await inspectTopics(listing('in', 'out', 'dead'), settings({ alertsTopic: 'found' }))
  expect(remarks.filter(({ level }) => level === 'error')).toMatchObject([{ topic: 'found' }])
})
