// The knowledge that survives a broker crash: afterwards the leader has a new epoch.
import { batchHead, readCommitted, splitBatches } from '../wire.js'
import { longMs, only } from './client.js'
import { memberOf } from './groups.js'
import type { Scenario } from './scenario.js'

export const restartScenario: Scenario = {
  title: 'a broker that was killed and came back',
  run: async (before, step) => {
    const topic = await before.topic('restart')
    const groupId = await before.group('restart')
    const { id } = await before.topicId(topic)
    const producer = await before.initialised(null)
    for (let sequence = 0; sequence < 6; sequence++)
      await before.produce(topic, { ...producer, baseSequence: sequence })
    const transactionalId = await before.transactionalId('restart')
    const inTransaction = await before.initialised(transactionalId)
    await before.addToTransaction(transactionalId, inTransaction, topic)
    await before.produce(topic, { ...inTransaction, baseSequence: 0, transactionalId })
    await before.addOffsets(transactionalId, inTransaction, groupId)
    await before.commitInTransaction(transactionalId, inTransaction, groupId, topic, 7, 'in transaction')
    const member = await memberOf(before, groupId)
    const joined = await member.joined()
    await member.sync(joined, { [joined.memberId]: 'all' })
    await before.commit(groupId, joined, topic, 3, { metadata: 'kept' })
    const pending = await member.join({ memberId: '' })

    await before.restart()
    const client = await before.another()
    await client.untilServed(topic, 1)
    await client.groupLoaded(groupId)
    await client.coordinator(transactionalId, 1)

    await step('the topic is the same', { error: 'NONE', id }, client.topicId(topic))
    await step(
      'its records are there, and the open transaction',
      { error: 'NONE', high: 7, stable: 6, start: 0, aborted: [], batches: ['0-0', '1-1', '2-2', '3-3', '4-4', '5-5'] },
      () => client.fetch(topic, 0, { isolation: readCommitted }),
    )
    await step(
      'a repetition of the last',
      { error: 'NONE', offset: 5 },
      client.produce(topic, { ...producer, baseSequence: 5 }),
    )
    await step(
      'those before it are not known any more',
      { error: 'OUT_OF_ORDER_SEQUENCE_NUMBER', offset: -1 },
      client.produce(topic, { ...producer, baseSequence: 4 }),
    )
    await step(
      'a gap',
      { error: 'OUT_OF_ORDER_SEQUENCE_NUMBER', offset: -1 },
      client.produce(topic, { ...producer, baseSequence: 7 }),
    )
    await step('the next', { error: 'NONE', offset: 7 }, client.produce(topic, { ...producer, baseSequence: 6 }))
    const epochs = splitBatches(
      only(only((await client.fetchRaw(topic, [{ partition: 0, offset: 6 }])).topics).partitions).records!,
    )
    const [former = 0, latter = 0] = epochs.map((batch) => batchHead(batch).leaderEpoch)
    await step('the leader has a later epoch', [0, true], [former, latter > former])
    await step(
      'who names the former is refused',
      'FENCED_LEADER_EPOCH',
      client.fetch(topic, 0, { leaderEpoch: 0 }).then(({ error }) => error),
    )

    const after = await memberOf(client, groupId)
    await step('the member is still one', 'NONE', after.heartbeat(joined))
    await step('with its assignment', { error: 'NONE', assignment: 'all' }, after.sync(joined, {}))
    await step(
      'offsets are kept, those of the open transaction are not seen',
      { error: 'NONE', offset: 3, metadata: 'kept' },
      client.committed(groupId, topic),
    )
    await step('it may commit', 'NONE', client.commit(groupId, joined, topic, 4))
    await step(
      'an id that nobody had joined with is forgotten',
      'UNKNOWN_MEMBER_ID',
      after.join({ memberId: pending.memberId }).then(({ error }) => error),
    )

    await step(
      'the transaction goes on',
      { error: 'NONE', offset: 8 },
      client.produce(topic, { ...inTransaction, baseSequence: 1, transactionalId }),
    )
    await step('also with a partition that joined before', ['NONE'], () =>
      client.addToTransaction(transactionalId, inTransaction, topic),
    )
    await step('and commits', 'NONE', client.end(transactionalId, inTransaction, 'commit'))
    await step('all is stable', { high: 10, stable: 10 }, () =>
      client.fetch(topic, 0, { isolation: readCommitted, maxWaitMs: 0 }).then(({ high, stable }) => ({ high, stable })),
    )
    await step(
      'a later commit outside the transaction stays',
      { error: 'NONE', offset: 4, metadata: '' },
      client.committed(groupId, topic),
    )
    const next = await client.initialised(transactionalId, longMs)
    await step('the next epoch', [inTransaction.producerId, 1], [next.producerId, next.producerEpoch])
  },
}
