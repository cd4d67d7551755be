// Answers about topics: creating, deleting, recreating, extending and describing them.
import { announced, earliest, errorName, latest, noTopicId, topicResource } from '../wire.js'
import { only } from './client.js'
import type { Scenario } from './scenario.js'

const alone = { memberId: '', generationId: -1 }

export const topicScenarios: readonly Scenario[] = [
  {
    title: 'the versions that the simulation announces',
    run: async (client, step) => {
      const { errorCode, apiKeys } = await client.ask('ApiVersions', {})
      await step('are asked for', 'NONE', errorName(errorCode))
      await step(
        'are there',
        [],
        announced.filter(({ apiKey, minVersion, maxVersion }) => {
          const found = apiKeys.find((each) => each.apiKey === apiKey)
          return (
            found === undefined ||
            found.minVersion > maxVersion ||
            found.maxVersion < maxVersion ||
            found.maxVersion < minVersion
          )
        }),
      )
    },
  },
  {
    title: 'a topic is made',
    run: async (client, step) => {
      const topic = client.unique('made')
      const metadata = async (name: string) => {
        const { errorCode, partitions, isInternal } = only(
          (await client.ask('Metadata', { topics: [name], allowAutoTopicCreation: false })).topics,
        )
        return {
          error: errorName(errorCode),
          isInternal,
          leaders: [...partitions]
            .sort((a, b) => a.partition - b.partition)
            .map(({ partition, leaderId, errorCode: code }) => [partition, leaderId, errorName(code)]),
        }
      }
      const unknown = { error: 'UNKNOWN_TOPIC_OR_PARTITION' as const, isInternal: false, leaders: [] }
      await step('before that it is unknown', unknown, metadata(topic))
      await step('also with an id', { error: 'UNKNOWN_TOPIC_OR_PARTITION', id: noTopicId }, client.topicId(topic))
      await step('only tried', 'NONE', client.createTopic(topic, { validateOnly: true }))
      await step('it is still unknown', unknown, metadata(topic))
      await step('made', 'NONE', client.createTopic(topic, { partitions: 2 }))
      await step(
        'it is known',
        {
          error: 'NONE',
          isInternal: false,
          leaders: [
            [0, 1, 'NONE'],
            [1, 1, 'NONE'],
          ],
        },
        () => metadata(topic),
      )
      await step(
        'has an id',
        [true, 'NONE'],
        client.topicId(topic).then(({ id, error }) => [id !== noTopicId, error]),
      )
      await step('its id stays', true, (await client.topicId(topic)).id === (await client.topicId(topic)).id)
      await step('made twice', 'TOPIC_ALREADY_EXISTS', client.createTopic(topic))
      await step(
        'only tried, and there already',
        'TOPIC_ALREADY_EXISTS',
        client.createTopic(topic, { validateOnly: true }),
      )
      await step('no partitions', 'INVALID_PARTITIONS', client.createTopic(client.unique('none'), { partitions: 0 }))
      await step(
        'more replicas than brokers',
        'INVALID_REPLICATION_FACTOR',
        client.createTopic(client.unique('many'), { replicas: 2 }),
      )
      await step('a name that is none', 'INVALID_TOPIC_EXCEPTION', client.createTopic('not a name'))
      await step(
        'asked for by a name that is none',
        'INVALID_TOPIC_EXCEPTION',
        metadata('not a name').then(({ error }) => error),
      )
      await step(
        'a setting that does not exist',
        'INVALID_CONFIG',
        client.createTopic(client.unique('odd'), { configs: { 'no.such.setting': '1' } }),
      )
      const standard = client.unique('standard')
      await step('as the broker likes', 'NONE', client.createTopic(standard, { partitions: -1, replicas: -1 }))
      await step('is one partition at least', true, () => client.partitionsOf(standard).then((count) => count > 0))
      const all = await client.ask('Metadata', { topics: null, allowAutoTopicCreation: false })
      await step(
        'both are in the list of all',
        [topic, standard].sort(),
        all.topics
          .map((each) => each.topic)
          .filter((name) => name === topic || name === standard)
          .sort(),
      )
      await step(
        'none asked for, none told',
        [],
        (await client.ask('Metadata', { topics: [], allowAutoTopicCreation: false })).topics,
      )
      await step(
        'the broker is in the list',
        [1],
        all.brokers.map(({ nodeId }) => nodeId),
      )
      const missing = client.unique('missing')
      await client.ask('Metadata', { topics: [missing], allowAutoTopicCreation: true })
      await step('no topic is made by asking for it', unknown, metadata(missing))
    },
  },
  {
    title: 'a topic is deleted and made again',
    run: async (client, step) => {
      const topic = await client.topic('again', { partitions: 2 })
      const groupId = await client.group('again')
      const producer = await client.initialised(null)
      const { id } = await client.topicId(topic)
      await client.produce(topic, { ...producer, baseSequence: 0, count: 5 })
      await client.commit(groupId, alone, topic, 4)
      await step('deleted', 'NONE', client.deleteTopic(topic))
      await step('it is unknown', 'UNKNOWN_TOPIC_OR_PARTITION', () => client.topicId(topic).then(({ error }) => error))
      await step('to those who write', { error: 'UNKNOWN_TOPIC_OR_PARTITION', offset: -1 }, () => client.produce(topic))
      await step('to those who read', 'UNKNOWN_TOPIC_OR_PARTITION', () =>
        client.fetch(topic, 0).then(({ error }) => error),
      )
      await step('to those who ask for its end', 'UNKNOWN_TOPIC_OR_PARTITION', () =>
        client.offsetAt(topic, 0, latest).then(({ error }) => error),
      )
      await step('to those who commit', 'UNKNOWN_TOPIC_OR_PARTITION', () => client.commit(groupId, alone, topic, 5))
      await step('the offsets of its groups go', { error: 'NONE', offset: -1, metadata: '' }, () =>
        client.committed(groupId, topic),
      )
      await step('deleted twice', 'UNKNOWN_TOPIC_OR_PARTITION', client.deleteTopic(topic))
      await step('made again', 'NONE', client.createTopic(topic))
      await client.untilServed(topic, 1)
      const next = await client.topicId(topic)
      await step('it is another one', [true, 'NONE'], [next.id !== id, next.error])
      await step(
        'and empty',
        [0, 0],
        [(await client.offsetAt(topic, 0, earliest)).offset, (await client.offsetAt(topic, 0, latest)).offset],
      )
      await step(
        'it has forgotten who wrote to the former',
        { error: 'NONE', offset: 0 },
        client.produce(topic, { ...producer, baseSequence: 5 }),
      )
      await step(
        'a position of the former is out of range',
        'OFFSET_OUT_OF_RANGE',
        client.fetch(topic, 4).then(({ error }) => error),
      )
      await step('and can be committed all the same', 'NONE', client.commit(groupId, alone, topic, 4))
      await step(
        'it has one partition',
        'UNKNOWN_TOPIC_OR_PARTITION',
        client.produce(topic, { partition: 1 }).then(({ error }) => error),
      )
    },
  },
  {
    title: 'partitions are added',
    run: async (client, step) => {
      const topic = await client.topic('wider')
      const { id } = await client.topicId(topic)
      await client.produce(topic)
      await step('two more', 'NONE', client.addPartitions(topic, 3))
      await client.untilServed(topic, 3)
      await step('are there', 3, client.partitionsOf(topic))
      await step(
        'and empty',
        0,
        client.offsetAt(topic, 2, latest).then(({ offset }) => offset),
      )
      await step(
        'the first keeps its records',
        1,
        client.offsetAt(topic, 0, latest).then(({ offset }) => offset),
      )
      await step('it is the same topic', { error: 'NONE', id }, client.topicId(topic))
      await step('as many as there are', 'INVALID_PARTITIONS', client.addPartitions(topic, 3))
      await step('fewer', 'INVALID_PARTITIONS', client.addPartitions(topic, 2))
      await step(
        'for an unknown topic',
        'UNKNOWN_TOPIC_OR_PARTITION',
        client.addPartitions(client.unique('missing'), 2),
      )
    },
  },
  {
    title: 'the settings of a topic',
    run: async (client, step) => {
      const names = ['max.message.bytes', 'retention.ms', 'cleanup.policy']
      const describe = async (topic: string, configNames: readonly string[] | null) => {
        const { errorCode, configs, resourceName } = only(
          (
            await client.ask('DescribeConfigs', {
              resources: [{ resourceType: topicResource, resourceName: topic, configNames }],
              includeSynonyms: false,
            })
          ).resources,
        )
        return {
          error: errorName(errorCode),
          name: resourceName,
          configs: Object.fromEntries(
            configs
              .filter(({ name }) => names.includes(name))
              .map(({ name, value, source }) => [name, [value, source]]),
          ),
        }
      }
      const [fromTopic, fromDefault] = [1, 5]
      const standard = await client.topic('standard-settings')
      const defaults = {
        'max.message.bytes': ['1048588', fromDefault],
        'retention.ms': ['604800000', fromDefault],
        'cleanup.policy': ['delete', fromDefault],
      }
      await step('the standard', { error: 'NONE', name: standard, configs: defaults }, describe(standard, names))
      await step(
        'all are told where none is named',
        { error: 'NONE', name: standard, configs: defaults },
        describe(standard, null),
      )
      await step(
        'only what is named',
        { error: 'NONE', name: standard, configs: { 'cleanup.policy': ['delete', fromDefault] } },
        describe(standard, ['cleanup.policy', 'no.such.setting']),
      )
      const own = await client.topic('own-settings', {
        configs: { 'max.message.bytes': '2000', 'retention.ms': '-1', 'cleanup.policy': 'compact,delete' },
      })
      await step(
        'its own',
        {
          error: 'NONE',
          name: own,
          configs: {
            'max.message.bytes': ['2000', fromTopic],
            'retention.ms': ['-1', fromTopic],
            'cleanup.policy': ['compact,delete', fromTopic],
          },
        },
        describe(own, names),
      )
      const missing = client.unique('missing')
      await step(
        'of an unknown topic',
        { error: 'UNKNOWN_TOPIC_OR_PARTITION', name: missing, configs: {} },
        describe(missing, names),
      )
    },
  },
]
