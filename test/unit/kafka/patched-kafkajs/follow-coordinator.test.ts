// A consumer group whose coordinator moves, with kafkajs's own group replaced by one that records what it is asked to do.
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { followCoordinator } from '../../../../src/kafka/patched-kafkajs/follow-coordinator.js'

type Coordinator = { readonly name: string; readonly answer: () => void }

class Failure extends Error {
  constructor(readonly type: string) {
    super(type)
  }
}

const failing = (type: string): Coordinator => ({
  name: type,
  answer: () => {
    throw new Failure(type)
  },
})
const answering: Coordinator = { name: 'answering', answer: () => undefined }

class Original {
  groupId = 'g'
  sessionTimeout = 10_000
  lastRequest = Date.now()
  offsetManager: { coordinator: Coordinator }
  lookups = 0
  constructor(
    public coordinator: Coordinator,
    next: Coordinator,
  ) {
    this.offsetManager = { coordinator }
    this.cluster = {
      findGroupCoordinator: () => {
        this.lookups++
        return Promise.resolve(next)
      },
    }
  }
  cluster: { findGroupCoordinator: () => Promise<Coordinator> }
  heartbeat(): Promise<void> {
    return Promise.resolve().then(() => this.coordinator.answer())
  }
  commitOffsets(): Promise<void> {
    return Promise.resolve().then(() => this.offsetManager.coordinator.answer())
  }
  joinAndSync(): Promise<void> {
    return Promise.resolve()
  }
}

const Group = followCoordinator(Original) as typeof Original

const elsewhere = ['NOT_COORDINATOR_FOR_GROUP', 'GROUP_COORDINATOR_NOT_AVAILABLE', 'GROUP_LOAD_IN_PROGRESS']

describe('a coordinator that has moved', () => {
  it.each(elsewhere)('is found again, and the member goes on: %s', async (type) => {
    const group = new Group(failing(type), answering)
    await group.heartbeat()
    await sleep(1)
    expect(group.coordinator).toBe(answering)
    expect(group.offsetManager.coordinator).toBe(answering)
    expect(group.lookups).toBe(1)
    await group.heartbeat()
    expect(group.lookups).toBe(1)
  })

  it('takes the offsets that its predecessor did not take', async () => {
    const group = new Group(failing('NOT_COORDINATOR_FOR_GROUP'), answering)
    await group.commitOffsets()
    expect(group.coordinator).toBe(answering)
  })

  it('ends the membership after a session without an answer, so that kafkajs joins again', async () => {
    const group = new Group(failing('GROUP_LOAD_IN_PROGRESS'), failing('GROUP_LOAD_IN_PROGRESS'))
    await group.heartbeat()
    group.lastRequest -= group.sessionTimeout + 1
    await expect(group.heartbeat()).rejects.toMatchObject({ type: 'NOT_COORDINATOR_FOR_GROUP' })
    await group.joinAndSync()
    await group.heartbeat()
  })
})

it.each(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS', 'GROUP_AUTHORIZATION_FAILED'])(
  'what the coordinator refuses is refused: %s',
  async (type) => {
    const group = new Group(failing(type), answering)
    await expect(group.heartbeat()).rejects.toMatchObject({ type })
    await expect(group.commitOffsets()).rejects.toMatchObject({ type })
    expect(group.lookups).toBe(0)
  },
)

it('a join that failed is tried again: kafkajs would go on with the partitions of the generation before', async () => {
  let isAway = true
  class Joining extends Original {
    override joinAndSync(): Promise<void> {
      return isAway ? Promise.reject(new Error('read ECONNRESET')) : Promise.resolve()
    }
  }
  const group = new (followCoordinator(Joining) as typeof Joining)(answering, answering)
  await group.heartbeat()
  await expect(group.joinAndSync()).rejects.toThrow('read ECONNRESET')
  await expect(group.heartbeat()).rejects.toMatchObject({ type: 'REBALANCE_IN_PROGRESS' })
  isAway = false
  await group.joinAndSync()
  await group.heartbeat()
})

it('while it joins no heartbeat is sent: it would prove nothing about the partitions that it had', async () => {
  let joined = (): void => undefined
  class Joining extends Original {
    sent = 0
    override heartbeat(): Promise<void> {
      this.sent++
      return Promise.resolve()
    }
    override joinAndSync(): Promise<void> {
      return new Promise((resolve) => (joined = resolve))
    }
  }
  const group = new (followCoordinator(Joining) as typeof Joining)(answering, answering)
  const joining = group.joinAndSync()
  await group.heartbeat()
  expect(group.sent).toBe(0)
  joined()
  await joining
  await group.heartbeat()
  expect(group.sent).toBe(1)
})
