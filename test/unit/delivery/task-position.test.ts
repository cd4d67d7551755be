// At least once: where a task reads on after a join, and when another process's commit ends it.
import { describe, expect, it } from 'vitest'
import { openPosition } from '../../../src/delivery/task-position.js'
import { metadataOf } from '../../../src/kafka/commit-metadata.js'
import { assignedAs } from '../../support/assigned.js'

type Scene = {
  readonly position: TaskPosition
  /** What the group has committed, and in which topic. */
  readonly now: { id: string; offset: string; metadata: string | undefined }
  readonly told: string[]
  readonly join: () => ReturnType<TaskPosition['set']>
}

type TaskPosition = ReturnType<typeof openPosition>

const by = (owner: string, n: number): string => metadataOf('a', { owner, n })

const scene = (metadata?: string): Scene => {
  const now: Scene['now'] = { id: 'a', offset: '300', metadata }
  const told: string[] = []
  let generation = 0
  const position = openPosition({
    startingOffsets: () => {
      const { id, offset } = now
      const committed = new Map(now.metadata === undefined ? [] : [[0, { offset, metadata: now.metadata }]])
      return Promise.resolve({ topicId: id, offsets: new Map([[0, offset]]), committed, former: new Set() })
    },
    owner: 'me',
    takenOver: (_assigned, ending) => told.push(ending),
  })
  const join = (): ReturnType<TaskPosition['set']> => {
    const joined = ++generation
    return position.set(
      assignedAs({
        generation: joined,
        seek: (offset) => told.push(`${joined}: ${offset}`),
        isMember: () => joined === generation,
      }),
    )
  }
  return { position, now, told, join }
}

it('a position is set after each join', async () => {
  const { position, told, join } = scene()
  expect(position.current()).toBeUndefined()
  await join()
  await join()
  expect([position.current(), told]).toEqual([{ generation: 2, topicId: 'a' }, ['1: 300', '2: 300']])
})

it('a position of a join that is over is not set any more', async () => {
  const { told, join } = scene()
  const former = join()
  await join()
  await expect(former).rejects.toThrow('joined again')
  expect(told).toEqual(['2: 300'])
})

describe('after a join a task', () => {
  it.each([
    ['nobody has committed anything', undefined, undefined],
    ['the last commit is its own', by('other', 3), by('me', 1)],
    ['the last commit is that of a former owner still', by('other', 3), by('other', 3)],
  ])('goes on if %s', async (_what, before, after) => {
    const { now, told, join } = scene(before)
    await join()
    now.metadata = after
    await join()
    expect(told).toEqual(['1: 300', '2: 300'])
  })

  it.each([
    ['another process has committed', by('me', 1), by('other', 1)],
    ['an older version has', by('me', 1), metadataOf('a')],
    ['the position is gone', by('me', 1), undefined],
  ])('ends if %s', async (_what, before, after) => {
    const { now, told, join } = scene(before)
    await join()
    now.metadata = after
    await expect(join()).rejects.toThrow('in between')
    expect(told.at(-1)).toBe('lost')
  })

  it.each([
    ['nobody has committed anything in it', undefined],
    ['another process has', by('other', 1)],
  ])('ends if the topic was created again, and %s', async (_what, metadata) => {
    const { now, told, join } = scene(by('me', 1))
    await join()
    Object.assign(now, { id: 'b', offset: '0', metadata })
    await expect(join()).rejects.toThrow("another topic's")
    expect(told.at(-1)).toBe('recreated')
  })
})
