// A place in a group whose leader the brokers choose: the leader says one word to all, and everyone knows since when its place is proved.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from 'kafkajs'
import { clusterOf, type Cluster } from './cluster.js'
import { failureOf } from './failure.js'
import { answeredWithin } from './within.js'

export type Place = {
  readonly memberId: string
  readonly generation: number
  readonly isLeader: boolean
  /** What the leader says to all. */
  readonly word: Buffer
}

/** When a request was sent, by both clocks: the monotonic one may stand still while a machine is suspended, the other may be set. */
export type Sent = { readonly elapsedMs: number; readonly time: number }

export type LeaderGroupEvents = {
  readonly joined: (place: Place, sent: Sent) => void
  /** The brokers still had us in this place when they took a request that was sent then. */
  readonly proved: (sent: Sent) => void
  /** The brokers do not know us in this place any more. */
  readonly lost: () => void
  readonly failed: (message: string) => void
}

type LeaderGroupSettings = {
  readonly groupId: string
  readonly sessionMs: number
  /** Said by who leads. */
  readonly word: Buffer
}

export type LeaderGroup = {
  /** Gives up the place, so that the brokers choose again at once. */
  readonly close: () => Promise<void>
}

/** A protocol of its own: who joins as a consumer by mistake is refused by the brokers. */
const protocolType = 'threatweave'
const protocolName = 'leader'
const firstPauseMs = 200
const maxPauseMs = 2_000

const sentNow = (): Sent => ({ elapsedMs: performance.now(), time: Date.now() })

/** The longer of what the two clocks say. */
export const ageOf = ({ elapsedMs, time }: Sent): number => Math.max(performance.now() - elapsedMs, Date.now() - time)

/**
 * A leader stays one as long as it is a member: the brokers choose another only when its session has ended, or when it has left or has not
 * come back in time for a rebalance, which takes as long as a session too.
 */
export const joinLeaderGroup = (
  connect: () => Kafka,
  { groupId, sessionMs, word }: LeaderGroupSettings,
  events: LeaderGroupEvents,
): LeaderGroup => {
  const closed = new AbortController()
  const goesOn = (): boolean => !closed.signal.aborted
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: closed.signal }).catch(() => undefined)
  const heartbeatMs = Math.min(1_000, Math.floor(sessionMs / 10))
  let cluster: Cluster | undefined
  let memberId = ''
  let isPlaced = false
  let pauseMs = firstPauseMs

  const coordinator = async (): ReturnType<Cluster['findGroupCoordinator']> => {
    if (!cluster) {
      const fresh = clusterOf(connect())
      await fresh.connect()
      await fresh.refreshMetadata()
      cluster = fresh
    }
    return cluster.findGroupCoordinator({ groupId })
  }
  const disconnect = async (): Promise<void> => {
    const old = cluster
    cluster = undefined
    await old?.disconnect().catch(() => undefined) // it is not used again, however that ends
  }
  const limited = <Result>(times: number, what: string, task: () => Promise<Result>): Promise<Result> =>
    answeredWithin(times * sessionMs, what, task)

  /** Joins and stays until the brokers refuse; they do so for every rebalance. */
  const stay = async (): Promise<void> => {
    const broker = await limited(1, 'the search for the coordinator', coordinator)
    const joined = await limited(3, 'a join', () =>
      broker.joinGroup({
        groupId,
        sessionTimeout: sessionMs,
        rebalanceTimeout: sessionMs,
        memberId,
        protocolType,
        groupProtocols: [{ name: protocolName, metadata: Buffer.alloc(0) }],
      }),
    )
    memberId = joined.memberId
    const isLeader = joined.leaderId === memberId
    const { generationId } = joined
    const groupAssignment = isLeader
      ? joined.members.map((member) => ({ memberId: member.memberId, memberAssignment: word }))
      : []
    const sent = sentNow()
    const { memberAssignment } = await limited(2, 'a sync', () =>
      broker.syncGroup({ groupId, generationId, memberId, groupAssignment }),
    )
    isPlaced = true
    pauseMs = firstPauseMs
    events.joined({ memberId, generation: generationId, isLeader, word: Buffer.from(memberAssignment) }, sent)
    for (;;) {
      await pause(heartbeatMs)
      if (!goesOn()) return
      const sentAt = sentNow()
      await limited(1, 'a heartbeat', () => broker.heartbeat({ groupId, groupGenerationId: generationId, memberId }))
      events.proved(sentAt)
    }
  }
  const run = async (): Promise<void> => {
    while (goesOn())
      try {
        await stay()
      } catch (error) {
        const { name, message } = failureOf(error)
        if (!goesOn()) return
        if (name === 'REBALANCE_IN_PROGRESS') continue
        if (unplaced.has(name)) {
          if (isPlaced) events.lost()
          isPlaced = false
          if (name === 'UNKNOWN_MEMBER_ID') memberId = ''
          continue
        }
        events.failed(`${name}: ${message}`)
        await disconnect()
        await pause(pauseMs)
        pauseMs = Math.min(pauseMs * 2, maxPauseMs)
      }
  }
  const leave = async (): Promise<void> => {
    if (memberId === '') return
    try {
      await (await coordinator()).leaveGroup({ groupId, memberId })
    } catch (error) {
      events.failed(failureOf(error).message)
    }
  }
  const running = run()
  return {
    close: async () => {
      closed.abort()
      // Brokers that do not answer must not hold up the end: who does not leave is missed after a session.
      await Promise.race([leave(), sleep(leaveMs)])
      await disconnect()
      await Promise.race([running, sleep(leaveMs)])
    },
  }
}

const leaveMs = 2_000

/** Another place may be had at once. */
const unplaced = new Set(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION'])
