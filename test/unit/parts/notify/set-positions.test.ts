// At least once: a batch is processed only after the position of its partition was set.
import { describe, expect, it } from 'vitest'
import { setPositions } from '../../../../src/parts/notify/set-positions.js'
import { assignedAs } from '../../../support/assigned.js'

type Positions = ReturnType<typeof setPositions>

type Scene = {
  readonly positions: Positions
  /** Undefined: nobody answers. */
  readonly now: { id: string | undefined; offset: string }
  readonly sought: string[]
  readonly join: (...partitions: readonly string[]) => void
}

const scene = (): Scene => {
  const now: Scene['now'] = { id: 'a', offset: '300' }
  const sought: string[] = []
  const positions = setPositions((_topic, partitions) => {
    const { id, offset } = now
    if (id === undefined) return Promise.reject(new Error('no broker'))
    const offsets = new Map(partitions.map((partition) => [partition, offset]))
    return Promise.resolve({ topicId: id, offsets, committed: new Map(), former: new Set() })
  })
  let generation = 0
  const join: Scene['join'] = (...names) => {
    generation++
    positions.joined(
      names.map((name) => {
        const [topic = '', partition] = name.split('/')
        const seek = (offset: string): number => sought.push(`${name} ${offset}`)
        return assignedAs({ topic, partition: Number(partition), generation, seek })
      }),
    )
  }
  return { positions, now, sought, join }
}

const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('positions', () => {
  it('are set after a join, also if nothing arrives', async () => {
    const { sought, join } = scene()
    join('fw/0', 'fw/1', 'dns/0')
    await turns()
    expect(sought).toEqual(['fw/0 300', 'fw/1 300', 'dns/0 300'])
  })

  it('are set once per join, however many batches ask', async () => {
    const { positions, sought, join } = scene()
    join('fw/0')
    const batch = { topic: 'fw', topicId: 'a' }
    expect(await Promise.all([positions.topicIdOf(batch), positions.topicIdOf(batch)])).toEqual(['a', 'a'])
    join('fw/0')
    await positions.topicIdOf(batch)
    expect(sought).toEqual(['fw/0 300', 'fw/0 300'])
  })

  it('are set again for all partitions when a batch shows that the topic is another one', async () => {
    const { positions, now, sought, join } = scene()
    join('fw/0', 'fw/1')
    await positions.topicIdOf({ topic: 'fw', topicId: 'a' })
    now.id = 'b'
    now.offset = '0'
    const batch = { topic: 'fw', topicId: 'b' }
    expect(await Promise.all([positions.topicIdOf(batch), positions.topicIdOf(batch)])).toEqual(['b', 'b'])
    expect(sought.slice(2)).toEqual(['fw/0 0', 'fw/1 0'])
  })

  it('stay while nothing is known about the topic', async () => {
    const { positions, now, sought, join } = scene()
    join('fw/0')
    await positions.topicIdOf({ topic: 'fw', topicId: 'a' })
    now.id = 'b'
    expect(await positions.topicIdOf({ topic: 'fw', topicId: undefined })).toBe('a')
    expect(sought).toHaveLength(1)
  })

  it('are asked for again by the next batch if nobody answered', async () => {
    const { positions, now, sought, join } = scene()
    now.id = undefined
    join('fw/0')
    await expect(positions.topicIdOf({ topic: 'fw', topicId: undefined })).rejects.toThrow('no broker')
    expect(sought).toEqual([])
    now.id = 'a'
    expect(await positions.topicIdOf({ topic: 'fw', topicId: 'a' })).toBe('a')
    expect(sought).toEqual(['fw/0 300'])
  })

  it('of a join that is over are not set any more', async () => {
    const { sought, join } = scene()
    join('fw/0')
    join('fw/1')
    await turns()
    expect(sought).toEqual(['fw/1 300'])
  })
})
