// Where a partition is read from: by what its group committed, and for which topic of that name.
import { describe, expect, it } from 'vitest'
import { metadataOf } from '../../../src/kafka/commit-metadata.js'
import { startingOffsets, type StartingOffsets } from '../../../src/kafka/starting-offsets.js'

const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(32)) as [string, string, string]

type Scene = {
  readonly read: StartingOffsets
  /** By partition: the offset and the metadata. */
  readonly commits: Map<number, readonly [string, string | null]>
  readonly topic: { id: string | undefined }
  readonly told: string[]
}

const scene = (): Scene => {
  const commits: Scene['commits'] = new Map()
  const topic: Scene['topic'] = { id: b }
  const told: string[] = []
  const read = startingOffsets({
    committed: (_topic, partitions) =>
      Promise.resolve(
        partitions.map((partition) => {
          const [offset = '-1', metadata = ''] = commits.get(partition) ?? []
          return { partition, offset, metadata }
        }),
      ),
    oldest: (_topic, partitions) => Promise.resolve(new Map(partitions.map((partition) => [partition, '40']))),
    identity: { askEach: () => Promise.resolve(topic.id) },
    emit: ({ event }) => told.push(event),
  })
  return { read, commits, topic, told }
}

const startOf = async ({ read }: Scene, partition = 0, readIn?: string): Promise<string | undefined> => {
  const { offsets, former } = await read('fw', [partition], readIn)
  return `${offsets.get(partition)}${former.has(partition) ? ' of a former topic' : ''}`
}

describe('a partition is read', () => {
  it.each([
    ['of the topic that is there', metadataOf(b)],
    ['of the topic that is there, with more beside it', JSON.stringify({ events: 5, topic_id: b })],
    ['without metadata', ''],
    ['with no metadata at all', null],
    ['that another consumer wrote a text beside', 'checkpoint 7'],
    ['that another consumer wrote an object beside', '{"topic_id":7}'],
    ['that another consumer wrote another id beside', '{"topic_id":"orders"}'],
  ])('from a commit %s', async (_what, metadata) => {
    const at = scene()
    at.commits.set(0, ['300', metadata])
    expect(await startOf(at)).toBe('300')
    expect(at.told).toEqual([])
  })

  it.each([
    ['a commit', metadataOf(a)],
    ['a commit with more beside it', JSON.stringify({ events: 5, topic_id: a })],
  ])('from its beginning after %s of a former topic, which is said', async (_what, metadata) => {
    const at = scene()
    at.commits.set(0, ['300', metadata])
    expect(await startOf(at)).toBe('0 of a former topic')
    expect(at.told).toEqual(['topic_recreated'])
  })

  it('from its oldest record where the group has committed nothing', async () => {
    const at = scene()
    expect(await startOf(at)).toBe('40')
    at.commits.set(0, ['-2', null])
    expect(await startOf(at)).toBe('40')
    expect(at.told).toEqual([])
  })

  it('from a commit whatever it says where brokers have no ids', async () => {
    const at = scene()
    at.topic.id = undefined
    at.commits.set(0, ['300', metadataOf(a)])
    expect(await at.read('fw', [0])).toEqual({
      topicId: undefined,
      offsets: new Map([[0, '300']]),
      committed: new Map([[0, { offset: '300', metadata: metadataOf(a) }]]),
      former: new Set(),
    })
    expect(at.told).toEqual([])
  })

  it('each by itself: one may be committed in the topic that is there, another still in the former one', async () => {
    const at = scene()
    at.commits
      .set(0, ['300', metadataOf(a)])
      .set(1, ['7', metadataOf(b)])
      .set(3, ['5', ''])
    const { topicId, offsets, committed, former } = await at.read('fw', [0, 1, 2, 3])
    expect([topicId, [...offsets.values()].toSorted()]).toEqual([b, ['0', '40', '5', '7']])
    expect(offsets.get(0)).toBe('0')
    expect([...committed]).toEqual([
      [1, { offset: '7', metadata: metadataOf(b) }],
      [3, { offset: '5', metadata: '' }],
    ])
    expect([...former]).toEqual([0])
    expect(at.told).toEqual(['topic_recreated'])
  })
})

describe('a process that has read the former topic', () => {
  it.each([
    ['nothing is committed: commits go with a topic', undefined, '0 of a former topic'],
    ['the commit does not say for which topic it is', ['300', ''] as const, '0 of a former topic'],
    ['another process has read the new one already', ['20', metadataOf(b)] as const, '20'],
  ])('reads the new one from the right place if %s', async (_case, commit, expected) => {
    const at = scene()
    if (commit) at.commits.set(0, commit)
    expect(await startOf(at, 0, a)).toBe(expected)
    expect(at.told).toEqual(expected === '20' ? [] : ['topic_recreated'])
  })

  it('says so once for all partitions, and again for the next topic', async () => {
    const at = scene()
    at.commits.set(0, ['300', metadataOf(a)]).set(1, ['300', metadataOf(a)])
    await startOf(at, 0)
    await startOf(at, 1)
    expect(at.told).toEqual(['topic_recreated'])
    at.topic.id = c
    await startOf(at, 0)
    expect(at.told).toEqual(['topic_recreated', 'topic_recreated'])
  })
})
