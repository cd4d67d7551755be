// Answers of a coordinator to members of a group in each state, and to clients that are not members.
import { errorName, groupKey, transactionKey, type ErrorName } from '../wire.js'
import { clientId, longMs, only, type Client } from './client.js'
import type { Scenario } from './scenario.js'

/** The shortest session that brokers allow by default, for members that must expire. */
const shortSessionMs = 6_000
const shortRebalanceMs = 1_000
const alone = { memberId: '', generationId: -1 }

export const groupScenarios: readonly Scenario[] = [
  {
    title: 'a member alone, from joining to leaving',
    run: async (client, step) => {
      const topic = await client.topic('alone')
      const groupId = await client.group('alone')
      const member = await memberOf(client, groupId)
      await step('a group that nobody joined is dead', 'Dead', client.groupState(groupId))
      const asked = await member.join({ memberId: '' })
      await step(
        'who has no id gets one first',
        ['MEMBER_ID_REQUIRED', -1, [], ''],
        [asked.error, asked.generationId, asked.members, asked.leader],
      )
      await step('that begins with the name of the client', true, asked.memberId.startsWith(`${clientId}-`))
      await step('the group has no member yet', 'Empty', client.groupState(groupId))
      await step(
        'a heartbeat with the id alone',
        'UNKNOWN_MEMBER_ID',
        member.heartbeat({ memberId: asked.memberId, generationId: -1 }),
      )
      const { memberId } = asked
      const joined = await member.join({ memberId })
      await step(
        'with the id it joins',
        { error: 'NONE', generationId: 1, protocol: 'roundrobin', leader: memberId, memberId, members: [memberId] },
        joined,
      )
      const now = { memberId, generationId: 1 }
      await step('nothing is assigned yet', 'CompletingRebalance', client.groupState(groupId))
      await step('a heartbeat before the assignment', 'NONE', member.heartbeat(now))
      await step('a commit before the assignment', 'REBALANCE_IN_PROGRESS', client.commit(groupId, now, topic, 1))
      await step('the same join again', joined, member.join({ memberId }))
      await step('the assignment', { error: 'NONE', assignment: 'all' }, member.sync(now, { [memberId]: 'all' }))
      await step('the group is stable', 'Stable', client.groupState(groupId))
      await step(
        'the assignment again: what is said now does not count',
        { error: 'NONE', assignment: 'all' },
        member.sync(now, { [memberId]: 'other' }),
      )
      await step('a heartbeat', 'NONE', member.heartbeat(now))
      await step('a commit', 'NONE', client.commit(groupId, now, topic, 5, { metadata: 'kept' }))
      await step('is there', { error: 'NONE', offset: 5, metadata: 'kept' }, client.committed(groupId, topic))
      await step('a lower offset may be committed', 'NONE', client.commit(groupId, now, topic, 3))
      await step(
        'and is there, without metadata',
        { error: 'NONE', offset: 3, metadata: '' },
        client.committed(groupId, topic),
      )

      await step('another member id: heartbeat', 'UNKNOWN_MEMBER_ID', member.heartbeat({ ...now, memberId: 'nobody' }))
      await step('commit', 'UNKNOWN_MEMBER_ID', client.commit(groupId, { ...now, memberId: 'nobody' }, topic, 9))
      await step(
        'sync',
        { error: 'UNKNOWN_MEMBER_ID', assignment: '' },
        member.sync({ ...now, memberId: 'nobody' }, {}),
      )
      await step(
        'join',
        'UNKNOWN_MEMBER_ID',
        member.join({ memberId: 'nobody' }).then(({ error }) => error),
      )
      await step('leave', ['NONE', 'UNKNOWN_MEMBER_ID'], member.leave('nobody'))
      for (const generationId of [0, 2]) {
        const other = { memberId, generationId }
        await step(`generation ${generationId}: heartbeat`, 'ILLEGAL_GENERATION', member.heartbeat(other))
        await step('commit', 'ILLEGAL_GENERATION', client.commit(groupId, other, topic, 9))
        await step('sync', { error: 'ILLEGAL_GENERATION', assignment: '' }, member.sync(other, {}))
      }
      await step('a commit from outside', 'UNKNOWN_MEMBER_ID', client.commit(groupId, alone, topic, 9))
      await step('a group with members is not deleted', 'NON_EMPTY_GROUP', client.deleteGroup(groupId))
      await step(
        'another protocol cannot join',
        'INCONSISTENT_GROUP_PROTOCOL',
        (await memberOf(client, groupId)).join({ memberId: '', protocol: 'other' }).then(({ error }) => error),
      )

      await step('it leaves', ['NONE', 'NONE'], member.leave(memberId))
      await step('and is gone', ['NONE', 'UNKNOWN_MEMBER_ID'], member.leave(memberId))
      await step('heartbeat', 'UNKNOWN_MEMBER_ID', member.heartbeat(now))
      await step('commit', 'UNKNOWN_MEMBER_ID', client.commit(groupId, now, topic, 9))
      await step('the group is empty', 'Empty', client.groupState(groupId))
      await step(
        'and keeps its offsets',
        3,
        client.committed(groupId, topic).then(({ offset }) => offset),
      )
      await step('a commit from outside', 'NONE', client.commit(groupId, alone, topic, 6))
      await step(
        'is there',
        6,
        client.committed(groupId, topic).then(({ offset }) => offset),
      )
      const second = await member.joined()
      await step(
        'the next member has the next generation but one: the empty group had one, too',
        3,
        second.generationId,
      )
      await step('leaves', ['NONE', 'NONE'], member.leave(second.memberId))
      await step('an empty group is deleted', 'NONE', client.deleteGroup(groupId))
      await step('and its offsets', { error: 'NONE', offset: -1, metadata: '' }, client.committed(groupId, topic))
    },
  },
  {
    title: 'two members',
    run: async (client, step) => {
      const topic = await client.topic('pair')
      const groupId = await client.group('pair')
      const first = await memberOf(client, groupId)
      const second = await memberOf(client, groupId)
      const a = await first.joined()
      await first.sync(a, { [a.memberId]: 'all' })
      const { memberId } = await second.join({ memberId: '' })
      await step('an id alone disturbs nobody', 'NONE', first.heartbeat(a))
      const waiting = second.join({ memberId })
      await step('a second member joins', 'REBALANCE_IN_PROGRESS', () => first.heartbeat(a))
      await step('the group waits for the first', 'PreparingRebalance', client.groupState(groupId))
      await step('who may commit meanwhile', 'NONE', client.commit(groupId, a, topic, 4))
      await step(
        'the offset is there',
        4,
        client.committed(groupId, topic).then(({ offset }) => offset),
      )
      await step('but not take its assignment', { error: 'REBALANCE_IN_PROGRESS', assignment: '' }, first.sync(a, {}))
      const again = await first.join({ memberId: a.memberId })
      const joined = await waiting
      const members = [a.memberId, memberId].sort()
      await step(
        'the first leads',
        { error: 'NONE', generationId: 2, protocol: 'roundrobin', leader: a.memberId, memberId: a.memberId, members },
        again,
      )
      await step(
        'the second follows and is told no members',
        { error: 'NONE', generationId: 2, protocol: 'roundrobin', leader: a.memberId, memberId, members: [] },
        joined,
      )
      const [now, then] = [
        { memberId: a.memberId, generationId: 2 },
        { memberId, generationId: 2 },
      ]
      await step('the former generation: heartbeat', 'ILLEGAL_GENERATION', first.heartbeat(a))
      await step('commit', 'ILLEGAL_GENERATION', client.commit(groupId, a, topic, 9))
      await step('a commit before the assignment', 'REBALANCE_IN_PROGRESS', client.commit(groupId, then, topic, 9))
      const assigned = second.sync(then, {})
      await step('a heartbeat while the follower waits', 'NONE', first.heartbeat(now))
      await step(
        'the leader assigns',
        { error: 'NONE', assignment: 'half' },
        first.sync(now, { [a.memberId]: 'half', [memberId]: 'rest' }),
      )
      await step('the follower has its part', { error: 'NONE', assignment: 'rest' }, assigned)
      await step('both are in', ['NONE', 'NONE'], [await first.heartbeat(now), await second.heartbeat(then)])
      await step(
        'both may commit',
        ['NONE', 'NONE'],
        [await client.commit(groupId, now, topic, 5), await client.commit(groupId, then, topic, 6)],
      )

      await step('the follower joins again as it was: nothing changes', joined, second.join({ memberId }))
      await step('the leader did not notice', 'NONE', first.heartbeat(now))
      const [led, followed] = await Promise.all([
        first.join({ memberId: a.memberId }),
        client
          .until(
            () => second.heartbeat(then),
            (error) => error !== 'NONE',
          )
          .then(() => second.join({ memberId })),
      ])
      await step('the leader joins again: all do', [3, 3], [led.generationId, followed.generationId])
      await first.sync(led, { [a.memberId]: 'x', [memberId]: 'y' })
      await step('assigned', { error: 'NONE', assignment: 'y' }, second.sync(followed, {}))

      await step('the leader leaves', ['NONE', 'NONE'], first.leave(a.memberId))
      await step('the follower is told', 'REBALANCE_IN_PROGRESS', second.heartbeat(followed))
      await step('and may commit what it has in hand', 'NONE', client.commit(groupId, followed, topic, 7))
      await step(
        'alone it leads',
        { error: 'NONE', generationId: 4, protocol: 'roundrobin', leader: memberId, memberId, members: [memberId] },
        second.join({ memberId }),
      )
    },
  },
  {
    title: 'a member that says nothing more',
    run: async (client, step) => {
      const topic = await client.topic('silent')
      const groupId = await client.group('silent')
      const first = await memberOf(client, groupId)
      const silent = await memberOf(client, groupId, { sessionMs: shortSessionMs })
      const { a, b } = await pairUp(client, first, silent)
      await step('is given up, and the other told', 'REBALANCE_IN_PROGRESS', () => first.heartbeat(a))
      await step('heartbeat of the silent one', 'UNKNOWN_MEMBER_ID', silent.heartbeat(b))
      await step('commit', 'UNKNOWN_MEMBER_ID', client.commit(groupId, b, topic, 9))
      await step('sync', { error: 'UNKNOWN_MEMBER_ID', assignment: '' }, silent.sync(b, {}))
      await step(
        'join',
        'UNKNOWN_MEMBER_ID',
        silent.join({ memberId: b.memberId }).then(({ error }) => error),
      )
      await step(
        'the other goes on alone',
        [a.generationId + 1, [a.memberId]],
        first.join({ memberId: a.memberId }).then(({ generationId, members }) => [generationId, members]),
      )
    },
  },
  {
    title: 'a connection that closes is not a member that left',
    run: async (client, step) => {
      const groupId = await client.group('closed')
      const first = await memberOf(client, groupId)
      const a = await first.joined()
      await first.sync(a, { [a.memberId]: 'all' })
      first.close()
      const other = await memberOf(client, groupId)
      await step('its heartbeat counts on another connection', 'NONE', other.heartbeat(a))
      await step('the group is as it was', 'Stable', client.groupState(groupId))
    },
  },
  {
    title: 'a member that does not come to a rebalance',
    run: async (client, step) => {
      const groupId = await client.group('absent')
      const absent = await memberOf(client, groupId, { rebalanceMs: shortRebalanceMs })
      const a = await absent.joined()
      await absent.sync(a, { [a.memberId]: 'all' })
      const second = await memberOf(client, groupId, { rebalanceMs: shortRebalanceMs })
      const b = await second.joined()
      await step(
        'is not waited for for ever',
        [a.generationId + 1, b.memberId, [b.memberId]],
        [b.generationId, b.leader, b.members],
      )
      await step('its heartbeat', 'UNKNOWN_MEMBER_ID', absent.heartbeat(a))
      await step(
        'the new leader assigns',
        { error: 'NONE', assignment: 'all' },
        second.sync(b, { [b.memberId]: 'all' }),
      )
    },
  },
  {
    title: 'an id that nobody joins with',
    run: async (client, step) => {
      const groupId = await client.group('pending')
      const pending = await memberOf(client, groupId, { sessionMs: shortSessionMs })
      const asked = await pending.join({ memberId: '' })
      const second = await memberOf(client, groupId)
      const b = await second.joined()
      await step('does not hold up the first member', ['NONE', 1, [b.memberId]], [b.error, b.generationId, b.members])
      await second.sync(b, { [b.memberId]: 'all' })
      await step(
        'holds up a rebalance no longer than its session',
        ['NONE', 2, [b.memberId]],
        second
          .join({ memberId: b.memberId })
          .then(({ error, generationId, members }) => [error, generationId, members]),
      )
      await step(
        'and is then unknown',
        'UNKNOWN_MEMBER_ID',
        pending.join({ memberId: asked.memberId }).then(({ error }) => error),
      )
    },
  },
  {
    title: 'a leader that never assigns',
    run: async (client, step) => {
      const groupId = await client.group('unassigned')
      const leader = await memberOf(client, groupId, { rebalanceMs: shortRebalanceMs })
      const follower = await memberOf(client, groupId, { rebalanceMs: shortRebalanceMs })
      const { a, b } = await bothJoined(client, leader, follower)
      const waiting = follower.sync(b, {})
      await step('who waits for it is told to join again', { error: 'REBALANCE_IN_PROGRESS', assignment: '' }, waiting)
      const c = await follower.join({ memberId: b.memberId })
      await step('and leads', [a.generationId + 1, b.memberId, [b.memberId]], [c.generationId, c.leader, c.members])
      await step('the former leader is out', 'UNKNOWN_MEMBER_ID', leader.heartbeat(a))
    },
  },
  {
    title: 'a third member joins before the assignment',
    run: async (client, step) => {
      const groupId = await client.group('third')
      const [first, second, third] = [
        await memberOf(client, groupId),
        await memberOf(client, groupId),
        await memberOf(client, groupId),
      ]
      const { a, b } = await bothJoined(client, first, second)
      const waiting = second.sync(b, {})
      const joining = third.joined()
      await step('who waits for the assignment is told', { error: 'REBALANCE_IN_PROGRESS', assignment: '' }, waiting)
      await step('heartbeat of the leader', 'REBALANCE_IN_PROGRESS', first.heartbeat(a))
      await step(
        'its assignment is refused',
        { error: 'REBALANCE_IN_PROGRESS', assignment: '' },
        first.sync(a, { [a.memberId]: 'all' }),
      )
      const [x, y, z] = await Promise.all([
        first.join({ memberId: a.memberId }),
        second.join({ memberId: b.memberId }),
        joining,
      ])
      await step('all have the next generation', [3, 3, 3], [x.generationId, y.generationId, z.generationId])
      await step('all are members', [a.memberId, b.memberId, z.memberId].sort(), x.members)
      await step(
        'those who are no part of the assignment get an empty one',
        [
          { error: 'NONE', assignment: 'all' },
          { error: 'NONE', assignment: '' },
        ],
        [await first.sync(x, { [a.memberId]: 'all' }), await second.sync(y, {})],
      )
      await step('a follower leaves', ['NONE', 'NONE'], second.leave(b.memberId))
      await step('the leader is told', 'REBALANCE_IN_PROGRESS', first.heartbeat(x))
      await step('the other follower, too', 'REBALANCE_IN_PROGRESS', third.heartbeat(z))
    },
  },
  {
    title: 'who is no member of any group',
    run: async (client, step) => {
      const topic = await client.topic('no-group', { partitions: 2 })
      const groupId = await client.group('no-group')
      const other = await memberOf(client, groupId)
      const nobody = { memberId: 'nobody', generationId: 1 }
      await step('heartbeat', 'UNKNOWN_MEMBER_ID', other.heartbeat(nobody))
      await step('sync', { error: 'UNKNOWN_MEMBER_ID', assignment: '' }, other.sync(nobody, {}))
      await step(
        'join',
        'UNKNOWN_MEMBER_ID',
        other.join({ memberId: 'nobody' }).then(({ error }) => error),
      )
      await step('leave', ['NONE', 'UNKNOWN_MEMBER_ID'], other.leave('nobody'))
      await step('commit as a member', 'ILLEGAL_GENERATION', client.commit(groupId, nobody, topic, 1))
      await step('offsets of no group', { error: 'NONE', offset: -1, metadata: '' }, client.committed(groupId, topic))
      await step('a group that is not there is not deleted', 'GROUP_ID_NOT_FOUND', client.deleteGroup(groupId))
      await step('commit as nobody makes a group', 'NONE', client.commit(groupId, alone, topic, 1, { metadata: 'm' }))
      await step('that is empty', 'Empty', client.groupState(groupId))
      await step('offset and metadata', { error: 'NONE', offset: 1, metadata: 'm' }, client.committed(groupId, topic))
      await step(
        'of the other partition',
        { error: 'NONE', offset: -1, metadata: '' },
        client.committed(groupId, topic, 1),
      )
      await step(
        'of a partition that does not exist',
        { error: 'NONE', offset: -1, metadata: '' },
        client.committed(groupId, topic, 7),
      )
      await step(
        'commit for an unknown partition',
        'UNKNOWN_TOPIC_OR_PARTITION',
        client.commit(groupId, alone, topic, 1, { partition: 7 }),
      )
      await step(
        'for an unknown topic',
        'UNKNOWN_TOPIC_OR_PARTITION',
        client.commit(groupId, alone, client.unique('missing'), 1),
      )
      await step(
        'metadata of 4096 bytes',
        'NONE',
        client.commit(groupId, alone, topic, 2, { metadata: 'x'.repeat(4096) }),
      )
      await step(
        'and one more',
        'OFFSET_METADATA_TOO_LARGE',
        client.commit(groupId, alone, topic, 3, { metadata: 'x'.repeat(4097) }),
      )
      const all = await client.ask('OffsetFetch', { groupId, topics: null })
      await step(
        'all offsets of the group',
        [[topic, 0, 2]],
        all.topics.flatMap((found) =>
          found.partitions.map(({ partition, offset }) => [found.topic, partition, offset]),
        ),
      )
      await step(
        'a session shorter than allowed',
        'INVALID_SESSION_TIMEOUT',
        (await memberOf(client, groupId, { sessionMs: 999 })).join({ memberId: '' }).then(({ error }) => error),
      )
      await step(
        'no group at all',
        'INVALID_GROUP_ID',
        (await memberOf(client, '')).join({ memberId: '' }).then(({ error }) => error),
      )
      await step('commit for no group', 'NONE', client.commit('', alone, topic, 1))
      const deletion = await client.ask('OffsetDelete', {
        groupId,
        topics: [{ topic, partitions: [{ partition: 0 }] }],
      })
      await step(
        'an offset is deleted',
        ['NONE', 'NONE'],
        [errorName(deletion.errorCode), errorName(only(only(deletion.topics).partitions).errorCode)],
      )
      await step(
        'and gone',
        -1,
        client.committed(groupId, topic).then(({ offset }) => offset),
      )
      await step(
        'the coordinator is the broker',
        [1, 1],
        [
          (await client.coordinator(groupId, groupKey)).nodeId,
          (await client.coordinator('any', transactionKey)).nodeId,
        ],
      )
    },
  },
  {
    title: 'a transaction commits offsets of a group at work',
    run: async (client, step) => {
      const topic = await client.topic('at-work')
      const groupId = await client.group('at-work')
      const id = await client.transactionalId('at-work')
      const producer = await client.initialised(id)
      const member = await memberOf(client, groupId)
      const a = await member.joined()
      await client.addOffsets(id, producer, groupId)
      await step('before the assignment', 'NONE', client.commitInTransaction(id, producer, groupId, topic, 1))
      await member.sync(a, { [a.memberId]: 'all' })
      await step('in a stable group', 'NONE', client.commitInTransaction(id, producer, groupId, topic, 2))
      await member.leave(a.memberId)
      await step('in an empty group', 'NONE', client.commitInTransaction(id, producer, groupId, topic, 3))
      await step('it commits', 'NONE', client.end(id, producer, 'commit'))
      await step('the last is there', 3, () => client.committed(groupId, topic).then(({ offset }) => offset))
    },
  },
]

type Placed = { readonly memberId: string; readonly generationId: number }
type Joined = Placed & {
  readonly error: ErrorName
  readonly protocol: string
  readonly leader: string
  /** Sorted, because a coordinator lists them in no particular order. */
  readonly members: readonly string[]
}
type Member = Awaited<ReturnType<typeof memberOf>>

/** A member with its own connection. */
export const memberOf = async (
  client: Client,
  groupId: string,
  times: { readonly sessionMs?: number; readonly rebalanceMs?: number } = {},
) => {
  const connection = await client.another()
  const { ask } = connection
  const join = async (as: { readonly memberId: string; readonly protocol?: string }): Promise<Joined> => {
    const answer = await ask('JoinGroup', {
      groupId,
      sessionTimeoutMs: times.sessionMs ?? longMs,
      rebalanceTimeoutMs: times.rebalanceMs ?? longMs,
      memberId: as.memberId,
      groupInstanceId: null,
      protocolType: 'consumer',
      protocols: [{ name: as.protocol ?? 'roundrobin', metadata: subscription }],
    })
    return {
      error: errorName(answer.errorCode),
      generationId: answer.generationId,
      protocol: answer.protocolName,
      leader: answer.leader,
      memberId: answer.memberId,
      members: answer.members.map(({ memberId }) => memberId).sort(),
    }
  }
  return {
    join,
    /** Requests an id before joining, as clients do. */
    joined: async (): Promise<Joined> => join({ memberId: (await join({ memberId: '' })).memberId }),
    sync: async (
      { memberId, generationId }: Placed,
      assignments: Readonly<Record<string, string>>,
    ): Promise<{ readonly error: ErrorName; readonly assignment: string }> => {
      const { errorCode, assignment } = await ask('SyncGroup', {
        groupId,
        generationId,
        memberId,
        groupInstanceId: null,
        assignments: Object.entries(assignments).map(([to, what]) => ({ memberId: to, assignment: Buffer.from(what) })),
      })
      return { error: errorName(errorCode), assignment: assignment.toString() }
    },
    heartbeat: async ({ memberId, generationId }: Placed): Promise<ErrorName> =>
      errorName((await ask('Heartbeat', { groupId, generationId, memberId, groupInstanceId: null })).errorCode),
    leave: async (memberId: string): Promise<readonly [ErrorName, ErrorName]> => {
      const { errorCode, members } = await ask('LeaveGroup', {
        groupId,
        members: [{ memberId, groupInstanceId: null }],
      })
      return [errorName(errorCode), errorName(only(members).errorCode)]
    },
    close: connection.close,
  }
}

/** A consumer subscription without topics: version 0, no topics, no user data. */
const subscription = Buffer.from([0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])

const bothJoined = async (
  client: Client,
  first: Member,
  second: Member,
): Promise<{ readonly a: Joined; readonly b: Joined }> => {
  const a = await first.joined()
  await first.sync(a, { [a.memberId]: 'all' })
  const joining = second.joined()
  await client.until(
    () => first.heartbeat(a),
    (error) => error === 'REBALANCE_IN_PROGRESS',
  )
  const again = await first.join({ memberId: a.memberId })
  return { a: again, b: await joining }
}

const pairUp = async (
  client: Client,
  first: Member,
  second: Member,
): Promise<{ readonly a: Joined; readonly b: Joined }> => {
  const { a, b } = await bothJoined(client, first, second)
  await first.sync(a, { [a.memberId]: 'half', [b.memberId]: 'rest' })
  await second.sync(b, {})
  return { a, b }
}
