// Answers of a broker that is not the leader or coordinator. Needs two brokers; recorded from two nodes of Kafka 4.3.1.
import { errorName, groupKey, latest, transactionKey } from '../wire.js'
import { only, type Client } from './client.js'
import { memberOf } from './groups.js'
import type { Scenario } from './scenario.js'

const alone = { memberId: '', generationId: -1 }
const nobody = { memberId: 'nobody', generationId: 1 }
/** The broker that gets the request, and the leader or coordinator. */
const [here, elsewhere] = [1, 2]

const elsewhereScenario: Scenario = {
  title: 'a broker that is not the one in charge',
  run: async (client, step) => {
    const other = await client.another(elsewhere)
    const topic = client.unique('elsewhere')
    await step('a topic is made wherever it is asked for', 'NONE', other.createTopic(topic, { partitions: 4 }))
    const led = await client.until(
      () => leadersOf(client, topic),
      (found) => found.includes(here) && found.includes(elsewhere),
    )
    const [mine, theirs] = [led.indexOf(here), led.indexOf(elsewhere)]
    await client.until(
      () => client.offsetAt(topic, mine, latest),
      ({ error }) => error === 'NONE',
    )
    await step('the leader writes', { error: 'NONE', offset: 0 }, () => other.produce(topic, { partition: theirs }))
    await step(
      'another does not',
      { error: 'NOT_LEADER_OR_FOLLOWER', offset: -1 },
      client.produce(topic, { partition: theirs }),
    )
    const notHere = { error: 'NOT_LEADER_OR_FOLLOWER' as const, high: -1, stable: -1, start: -1 }
    await step(
      'nor read what it has no copy of',
      { ...notHere, aborted: null, batches: [] },
      client.fetch(topic, 0, { partition: theirs }),
    )
    await step(
      'nor know its end',
      { error: 'NOT_LEADER_OR_FOLLOWER', offset: -1, timestamp: -1 },
      client.offsetAt(topic, theirs, latest),
    )
    const both = await client.fetchRaw(
      topic,
      [mine, theirs].map((partition) => ({ partition, offset: 0 })),
      { maxWaitMs: 60_000 },
    )
    await step(
      'the partitions that it leads are answered in the same request',
      ['NONE', 'NOT_LEADER_OR_FOLLOWER'],
      only(both.topics).partitions.map(({ errorCode }) => errorName(errorCode)),
    )

    const groupId = await keyOf(client, 'elsewhere', groupKey)
    await other.groupLoaded(groupId)
    const member = await memberOf(client, groupId)
    await step(
      'a group of another coordinator: join',
      { error: 'NOT_COORDINATOR', generationId: -1, protocol: '', leader: '', memberId: '', members: [] },
      member.join({ memberId: '' }),
    )
    await step('heartbeat', 'NOT_COORDINATOR', member.heartbeat(nobody))
    await step('sync', { error: 'NOT_COORDINATOR', assignment: '' }, member.sync(nobody, {}))
    await step('commit', 'NOT_COORDINATOR', client.commit(groupId, alone, topic, 1))
    await step(
      'offsets',
      { throttleTimeMs: 0, topics: [], errorCode: 16 },
      client.ask('OffsetFetch', { groupId, topics: [{ topic, partitions: [0] }] }),
    )
    await step(
      'leave',
      { throttleTimeMs: 0, errorCode: 16, members: [] },
      client.ask('LeaveGroup', { groupId, members: [{ memberId: 'nobody', groupInstanceId: null }] }),
    )
    await step('delete', 'NOT_COORDINATOR', client.deleteGroup(groupId))

    const id = await keyOf(client, 'elsewhere', transactionKey)
    const producer = await other.initialised(id)
    await step('transactions of another coordinator: initialise', 'NOT_COORDINATOR', errorOf(client.init(id)))
    await step(
      'a partition joins',
      ['NOT_COORDINATOR', 'NOT_COORDINATOR'],
      client.addToTransaction(id, producer, topic, [mine, theirs]),
    )
    await step('offsets join', 'NOT_COORDINATOR', client.addOffsets(id, producer, groupId))
    await step('end', 'NOT_COORDINATOR', client.end(id, producer, 'commit'))
    const send = (on: Client, partition: number, baseSequence: number) =>
      on.produce(topic, { ...producer, transactionalId: id, partition, baseSequence })
    await step('records before that', { error: 'INVALID_TXN_STATE', offset: -1 }, send(client, mine, 0))
    await step('both join', ['NONE', 'NONE'], other.addToTransaction(id, producer, topic, [mine, theirs]))
    await step('records on one broker', { error: 'NONE', offset: 0 }, send(client, mine, 0))
    await step('and the other', { error: 'NONE', offset: 1 }, send(other, theirs, 0))
    await step('the group joins', 'NONE', other.addOffsets(id, producer, groupId))
    await step(
      'offsets to another coordinator of the group',
      'NOT_COORDINATOR',
      client.commitInTransaction(id, producer, groupId, topic, 5),
    )
    await step('to its own', 'NONE', other.commitInTransaction(id, producer, groupId, topic, 5))
    await step('it commits', 'NONE', other.end(id, producer, 'commit'))
    const batches = async (on: Client, partition: number): Promise<readonly string[]> =>
      (await on.fetch(topic, 0, { partition })).batches
    await step('a marker here', ['0-0', '1 commit'], () => batches(client, mine))
    await step('and there', ['0-0', '1-1', '2 commit'], () => batches(other, theirs))
    await step('the offset', 5, () => other.committed(groupId, topic).then(({ offset }) => offset))
  },
}

const leaderEndsScenario: Scenario = {
  title: 'a leader that ends, and a follower that takes over',
  run: async (client, step) => {
    const other = await client.another(elsewhere)
    const topic = client.unique('takeover')
    await step('a topic on two brokers', 'NONE', client.createTopic(topic, { partitions: 4, replicas: 2 }))
    const partition = (
      await client.until(
        () => leadersOf(client, topic),
        (found) => found.includes(elsewhere),
      )
    ).indexOf(elsewhere)
    await client.until(
      () => other.offsetAt(topic, partition, latest),
      ({ error }) => error === 'NONE',
    )
    const groupId = await keyOf(client, 'takeover', groupKey)
    await other.groupLoaded(groupId)
    const id = await keyOf(client, 'takeover', transactionKey)
    const inTransaction = await other.initialised(id)
    const producer = await client.initialised(null)
    for (let sequence = 0; sequence < 6; sequence++)
      await other.produce(topic, { ...producer, baseSequence: sequence, partition })
    await other.addToTransaction(id, inTransaction, topic, [partition])
    await other.addOffsets(id, inTransaction, groupId)
    await other.commitInTransaction(id, inTransaction, groupId, topic, 5)
    const before = await memberOf(other, groupId)
    const joined = await before.joined()
    await before.sync(joined, { [joined.memberId]: 'all' })
    await other.commit(groupId, joined, topic, 3)

    const lonely = client.unique('lonely')
    await client.createTopic(lonely, { partitions: 4 })
    const withoutCopy = (
      await client.until(
        () => leadersOf(client, lonely),
        (found) => found.includes(elsewhere),
      )
    ).indexOf(elsewhere)

    await client.crash(elsewhere)
    await step('it leads', here, () => leadersOf(client, topic).then((found) => found[partition] ?? -1))
    const send = (baseSequence: number) => client.produce(topic, { ...producer, baseSequence, partition })
    await step('it knows the last five of a producer', { error: 'NONE', offset: 5 }, () => send(5))
    await step('to the first of them', { error: 'NONE', offset: 1 }, send(1))
    await step('and none before', { error: 'OUT_OF_ORDER_SEQUENCE_NUMBER', offset: -1 }, send(0))
    await step('a gap', { error: 'OUT_OF_ORDER_SEQUENCE_NUMBER', offset: -1 }, send(7))
    await step('the next', { error: 'NONE', offset: 6 }, send(6))
    await step(
      'what had no copy has no leader',
      { error: 'NOT_LEADER_OR_FOLLOWER', offset: -1 },
      client.produce(lonely, { partition: withoutCopy }),
    )

    await step('it coordinates the group', here, () =>
      client.ask('FindCoordinator', { key: groupId, keyType: groupKey }).then(({ nodeId }) => nodeId),
    )
    await client.groupLoaded(groupId)
    const after = await memberOf(client, groupId)
    await step('whose member is one still', 'NONE', after.heartbeat(joined))
    await step('with its assignment', { error: 'NONE', assignment: 'all' }, after.sync(joined, {}))
    await step(
      'and its offset',
      3,
      client.committed(groupId, topic).then(({ offset }) => offset),
    )
    await step('the open transaction commits', 'NONE', () => client.end(id, inTransaction, 'commit'))
    await step('its marker is written', ['5-5', '6-6', '7 commit'], () =>
      client.fetch(topic, 5, { partition }).then(({ batches }) => batches),
    )
    await step(
      'the offset that was committed last stays',
      3,
      client.committed(groupId, topic).then(({ offset }) => offset),
    )
  },
}

export const pairScenarios: readonly Scenario[] = [elsewhereScenario, leaderEndsScenario]

/** By partition, as this broker knows them. */
const leadersOf = async (client: Client, topic: string): Promise<readonly number[]> =>
  [...only((await client.ask('Metadata', { topics: [topic], allowAutoTopicCreation: false })).topics).partitions]
    .sort((a, b) => a.partition - b.partition)
    .map(({ leaderId }) => leaderId)

const errorOf = async <E>(answer: Promise<{ readonly error: E }>): Promise<E> => (await answer).error

/** A group or transactional id whose coordinator is the other broker. */
const keyOf = async (client: Client, name: string, keyType: number): Promise<string> => {
  for (let nth = 0; nth < 100; nth++) {
    const key = client.unique(`${name}-${nth}`)
    if ((await client.coordinator(key, keyType)).nodeId === elsewhere) return key
  }
  throw new Error('one broker coordinates everything')
}
