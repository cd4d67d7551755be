// What is committed of a batch, and when nothing is.
import { describe, expect, it } from 'vitest'
import { commitDelivered, type CommitDelivered } from '../../../src/kafka/commit-delivered.js'

type Payload = Parameters<typeof commitDelivered>[0]

const scene = (): {
  readonly delivered: CommitDelivered
  readonly state: { isStale: boolean; isSameGeneration: boolean }
  readonly done: string[]
} => {
  const state = { isStale: false, isSameGeneration: true }
  const done: string[] = []
  const payload = {
    // Offset 9 is a control record, which does not come out.
    batch: { topic: 'fw', partition: 2, messages: [{ offset: '7' }, { offset: '8' }], lastOffset: () => '9' },
    resolveOffset: (offset: string) => done.push(`resolved ${offset}`),
    commitOffsetsIfNecessary: (offsets: unknown) => {
      done.push(JSON.stringify(offsets))
      return Promise.resolve()
    },
    isStale: () => state.isStale,
  } as unknown as Payload
  return { delivered: commitDelivered(payload, () => state.isSameGeneration), state, done }
}

const commitOf = (offset: string): string =>
  JSON.stringify({ topics: [{ topic: 'fw', partitions: [{ partition: 2, offset, metadata: 'id' }] }] })

describe('what was delivered of a batch', () => {
  it('is committed with its metadata, once', async () => {
    const { delivered, done } = scene()
    delivered.upTo('7', 'id')
    await delivered.commit()
    await delivered.commit()
    expect(done).toEqual(['resolved 7', commitOf('8')])
  })

  it('ends after the control records that follow its last record', async () => {
    const { delivered, done } = scene()
    delivered.upTo('7', 'id')
    delivered.upTo('8', 'id')
    await delivered.commit()
    expect(done).toEqual(['resolved 7', 'resolved 8', commitOf('10')])
  })

  it('is only resolved where a transaction commits it', async () => {
    const { delivered, done } = scene()
    delivered.upTo('7')
    await delivered.commit()
    expect(done).toEqual(['resolved 7'])
  })

  it.each([
    ['the position was set elsewhere', { isStale: true }],
    ['the group was joined again', { isSameGeneration: false }],
  ])('is neither resolved nor committed if %s', async (_case, change) => {
    const { delivered, state, done } = scene()
    delivered.upTo('7', 'id')
    Object.assign(state, change)
    delivered.upTo('8', 'id')
    await delivered.commit()
    expect(done).toEqual(['resolved 7'])
  })
})
