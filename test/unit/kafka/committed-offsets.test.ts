// A settled position is waited for as long as a transaction may change it, and for no longer than its bound.
import { beforeEach, describe, expect, it } from 'vitest'
import type { Cluster } from '../../../src/kafka/cluster.js'
import { settledOffsets } from '../../../src/kafka/committed-offsets.js'

const asked = { groupId: 'soc', topic: 'fw', partitions: [2] }
const settled = { partition: 2, offset: '41', metadata: '', errorCode: 0 }
const open = { partition: 2, offset: '-1', metadata: '', errorCode: 88 }

type Answer = { readonly partitions: readonly (typeof settled)[]; readonly errorCode: number }
type Sent = { readonly response: { readonly parse: (answer: Answer) => Promise<Answer> } }

let time = 0
/** Of each request, in milliseconds. */
let requestMs = 0
beforeEach(() => {
  time = 0
  requestMs = 0
})

/** Answers one after the other; the last one again and again. */
const clusterOf = (maxVersion: number, ...answers: readonly Answer[]): Cluster => {
  let nth = 0
  const coordinator = {
    versions: { 9: { maxVersion } },
    connectionPool: {
      send: ({ response }: Sent) => {
        time += requestMs
        return response.parse(answers[Math.min(nth++, answers.length - 1)] as Answer)
      },
    },
    offsetFetch: () => Promise.resolve({ responses: [{ partitions: [{ partition: 2, offset: '40', metadata: '' }] }] }),
  }
  return { findGroupCoordinator: () => Promise.resolve(coordinator) } as unknown as Cluster
}

const read = async (cluster: Cluster): Promise<{ readonly offset: string | undefined; readonly waitedMs: number }> => {
  const pause = (ms: number): Promise<unknown> => Promise.resolve((time += ms))
  const [found] = await settledOffsets(cluster, asked, pause, () => time)
  return { offset: found?.offset, waitedMs: time }
}

describe('a settled position', () => {
  it('is read at once where no transaction is open', async () => {
    expect(await read(clusterOf(10, { partitions: [settled], errorCode: 0 }))).toEqual({ offset: '41', waitedMs: 0 })
  })

  it('is read when the transaction that may change it has ended', async () => {
    const pending = { partitions: [open], errorCode: 0 }
    const cluster = clusterOf(7, pending, pending, { partitions: [settled], errorCode: 0 })
    expect(await read(cluster)).toEqual({ offset: '41', waitedMs: 60 })
  })

  it('is not waited for without end, and what is waited for is said', async () => {
    await expect(read(clusterOf(10, { partitions: [open], errorCode: 0 }))).rejects.toThrow(
      'a transaction with an offset of fw/2 in group soc has been open for 8 seconds: the position is known when it ends',
    )
  })

  it('is not waited for any longer where the requests take the time', async () => {
    requestMs = 3_000
    await expect(read(clusterOf(10, { partitions: [open], errorCode: 0 }))).rejects.toThrow('open for 8 seconds')
    expect(time).toBe(9_060)
  })

  it('is what shows where brokers cannot tell', async () => {
    expect(await read(clusterOf(6, { partitions: [open], errorCode: 0 }))).toEqual({ offset: '40', waitedMs: 0 })
  })

  it.each([
    ['the group', { partitions: [], errorCode: 16 }, 'NOT_COORDINATOR_FOR_GROUP'],
    ['a partition', { partitions: [{ ...open, errorCode: 29 }], errorCode: 0 }, 'TOPIC_AUTHORIZATION_FAILED'],
  ])('fails with the name of what is wrong with %s', async (_what, answer, type) => {
    await expect(read(clusterOf(10, answer))).rejects.toMatchObject({ type })
  })
})
