// What a claim shows about a transaction whose commit was never answered, and what is left of one that failed.
import type { Kafka } from 'kafkajs'
import { describe, expect, it } from 'vitest'
import { openTransactions, type PartitionTransactions } from '../../../src/delivery/partition-transactions.js'
import type { Commit } from '../../../src/kafka/commit-metadata.js'
import type { Assigned } from '../../../src/kafka/fetched.js'
import { assignedAs } from '../../support/assigned.js'

const done = (): Promise<void> => Promise.resolve()
const assigned = (generation: number): Assigned => assignedAs({ generation })

type Group = {
  readonly transactions: PartitionTransactions
  /** With which sentences the process was ended. */
  readonly failures: readonly string[]
  /** What the group has committed. */
  commit: Commit | undefined
  topicId: string
  /** What the next commit ends with. */
  answer: 'answered' | 'lost' | 'aborted'
  /** What was told about transactions and the task, in order. */
  readonly told: string[]
  /** How often a claim was lost. */
  readonly unclaimed: () => number
  readonly join: () => void
  /** Commits what is sent up to this position. */
  readonly deliver: (position: number) => Promise<void>
  /** A transaction without events. */
  readonly write: () => Promise<void>
  readonly claim: () => Promise<void>
}

type Offsets = { readonly topics: readonly [{ readonly partitions: readonly [Commit] }] }

const open = (): Group => {
  let generation = 1
  const failures: string[] = []
  const told: string[] = []
  let unclaimed = 0
  const kafka = {
    producer: () => ({
      connect: done,
      disconnect: done,
      transaction: () => {
        let sent: Commit | undefined
        return Promise.resolve({
          sendBatch: done,
          sendOffsets: ({ topics: [{ partitions }] }: Offsets) => {
            const [{ offset, metadata }] = partitions
            sent = { offset, metadata }
            return done()
          },
          commit: () => {
            if (group.answer !== 'aborted') group.commit = sent
            return group.answer === 'answered' ? done() : Promise.reject(new Error('no answer'))
          },
        })
      },
    }),
  } as unknown as Kafka
  const transactions = openTransactions(assigned(generation), {
    kafka,
    owner: 'me',
    settings: { groupId: 'g', transactionalIdPrefix: 'p', output: { compression: 'none' } } as never,
    now: () => 0,
    startingOffsets: () =>
      Promise.resolve({
        topicId: group.topicId,
        offsets: new Map([[0, group.commit?.offset ?? '40']]),
        committed: new Map(group.commit ? [[0, group.commit]] : []),
        former: new Set(),
      }),
    emit: () => undefined,
    fail: (sentence) => failures.push(sentence),
    takenOver: (_assigned, ending) => told.push(ending),
    unclaimed: () => {
      unclaimed++
    },
  })
  const commit = (position: number | 'stays'): Promise<void> =>
    transactions.inTurn(async () => {
      const claim = transactions.current() ?? (await transactions.claim())
      await transactions.commit(claim, {
        send: () => Promise.resolve({ offset: position }),
        settled: (hasCounted) => told.push(`${position} ${hasCounted ? 'counts' : 'does not count'}`),
      })
    })
  const group: Group = {
    transactions,
    failures,
    commit: undefined,
    topicId: 'a'.repeat(32),
    answer: 'answered',
    told,
    unclaimed: () => unclaimed,
    join: () => transactions.kept(assigned(++generation)),
    deliver: commit,
    write: () => commit('stays'),
    claim: async () => {
      await transactions.inTurn(transactions.claim)
    },
  }
  return group
}

/** A partition with a commit of position 10 that was not answered, after one of position 5. */
const inDoubt = async (answer: 'lost' | 'aborted'): Promise<Group> => {
  const group = open()
  await group.deliver(5)
  group.answer = answer
  await expect(group.deliver(10)).rejects.toThrow('no answer')
  group.answer = 'answered'
  group.told.length = 0
  return group
}

describe('a transaction whose commit was not answered', () => {
  it.each([
    ['counts if it is what the group has committed', 'lost', '10 counts', '10'],
    ['does not count if the group has committed what was there before', 'aborted', '10 does not count', '5'],
  ] as const)('%s', async (_what, answer, told, offset) => {
    const group = await inDoubt(answer)
    await group.claim()
    expect([group.told, group.commit?.offset]).toEqual([[told], offset])
    await group.deliver(11)
    expect(group.told.at(-1)).toBe('11 counts')
  })

  it('has the partition opened again, which decides it, also if a join comes first', async () => {
    const group = await inDoubt('lost')
    expect(group.unclaimed()).toBe(1)
    group.join()
    await group.claim()
    expect([group.told, group.unclaimed()]).toEqual([['10 counts'], 1])
  })

  it('counts for nothing once the partition is lost: the next owner reads what follows', async () => {
    const group = await inDoubt('lost')
    await group.transactions.close('lost')
    expect(group.told).toEqual(['10 does not count'])
    await expect(group.claim()).rejects.toThrow('not assigned any more')
  })

  it.each([
    ['lost', 'stays counts'],
    ['aborted', 'stays does not count'],
  ] as const)('without events is decided too, and leaves the position where it is: %s', async (answer, told) => {
    const group = open()
    await group.deliver(5)
    group.answer = answer
    await expect(group.write()).rejects.toThrow('no answer')
    group.answer = 'answered'
    await group.claim()
    expect(group.told).toEqual(['5 counts', told])
    expect(group.commit?.offset).toBe('5')
  })
})

it('each transaction names its own write beside the position', async () => {
  const group = open()
  await group.write()
  await group.deliver(50)
  expect(group.commit).toEqual({
    offset: '50',
    metadata: JSON.stringify({ topic_id: group.topicId, owner: 'me', n: 2 }),
  })
})

describe('a claim', () => {
  it.each([
    ['another process has committed in between', { offset: '5', metadata: '{"owner":"other","n":1}' }],
    ['an older version has, whose late answers name no write', { offset: '5', metadata: '{}' }],
    ['the position is gone', undefined],
  ])('ends the task if %s', async (_what, commit) => {
    const group = open()
    await group.deliver(5)
    group.commit = commit
    group.join()
    await expect(group.claim()).rejects.toThrow('in between')
    expect(group.told).toEqual(['5 counts', 'lost'])
  })

  it('goes on if nobody has committed anything yet', async () => {
    const group = open()
    await group.claim()
    group.join()
    await group.claim()
    expect(group.told).toEqual([])
  })

  it('keeps what a broker refused, and ends the task if the topic was created again', async () => {
    const group = open()
    const { refusals } = group.transactions
    await group.deliver(5)
    refusals.refused.set('42', { step: 'dead_letter', reason: 'invalid_record' })
    refusals.oneByOneUntil = 99
    group.join()
    await group.claim()
    expect([refusals.refused.size, refusals.oneByOneUntil]).toEqual([1, 99])
    group.topicId = 'b'.repeat(32)
    group.commit = undefined
    group.join()
    await expect(group.claim()).rejects.toThrow("another topic's")
    expect(group.told).toEqual(['5 counts', 'recreated'])
  })

  it('that was given up is used for nothing more', async () => {
    const group = open()
    await group.claim()
    const claim = group.transactions.current()
    group.answer = 'aborted'
    await expect(group.deliver(6)).rejects.toThrow('no answer')
    expect(group.transactions.current()).toBeUndefined()
    const late = group.transactions.commit(claim ?? expect.fail(), {
      send: () => expect.fail('nothing is sent'),
      settled: () => expect.fail('nothing is settled'),
    })
    await expect(late).rejects.toThrow('given up')
  })
})

describe('what only a mistake can break ends the process', () => {
  const nothing = { send: () => Promise.resolve({ offset: 'stays' as const }), settled: () => undefined }

  it('a transaction after the partition was closed', async () => {
    const group = open()
    await group.claim()
    const claim = group.transactions.current() ?? expect.fail()
    await group.transactions.close('lost')
    await expect(group.transactions.commit(claim, nothing)).rejects.toThrow('after the partition was closed')
    expect(group.failures).toHaveLength(1)
  })

  it('two transactions at the same time', async () => {
    const group = open()
    await group.claim()
    const claim = group.transactions.current() ?? expect.fail()
    const first = group.transactions.commit(claim, nothing)
    await expect(group.transactions.commit(claim, nothing)).rejects.toThrow('two transactions')
    await first
    expect(group.failures).toHaveLength(1)
  })

  it('a write of this process in the group that it has not made', async () => {
    const group = open()
    await group.deliver(5)
    group.commit = { offset: '9', metadata: JSON.stringify({ topic_id: group.topicId, owner: 'me', n: 3 }) }
    group.join()
    await expect(group.claim()).rejects.toThrow('the group has committed write 3, and the last one is 1')
    expect(group.failures).toHaveLength(1)
  })
})

it('numbers go on where a former task of this process ended: a write in doubt is not mistaken for that one', async () => {
  const group = open()
  group.commit = { offset: '5', metadata: JSON.stringify({ topic_id: group.topicId, owner: 'me', n: 1 }) }
  group.answer = 'aborted'
  await expect(group.write()).rejects.toThrow('no answer')
  group.answer = 'answered'
  await group.claim()
  expect(group.told).toEqual(['stays does not count'])
})
