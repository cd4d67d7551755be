// Takes part in a leader election by consumer group.
// The leader sends one message to all members, and each member knows when its membership was last proved.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from 'kafkajs'
import { clusterOf, type Cluster } from './cluster.js'
import { failureOf } from './failure.js'
import { answeredWithin } from './within.js'

export type Place = {
  readonly memberId: string
  readonly generation: number
  readonly isLeader: boolean
  /** The leader's message to all members. */
  readonly word: Buffer
}

/** Send time of a request on both clocks: the monotonic one may stop while a machine is suspended, and the wall clock may be set. */
export type Sent = { readonly elapsedMs: number; readonly time: number }

export type LeaderGroupEvents = {
  readonly joined: (place: Place, sent: Sent) => void
  /** The brokers still accepted this membership when they answered a request sent at that time. */
  readonly proved: (sent: Sent) => void
  /** The brokers no longer know this membership. */
  readonly lost: () => void
  readonly failed: (message: string) => void
}

type LeaderGroupSettings = {
  readonly groupId: string
  readonly sessionMs: number
  /** The message to send as leader. */
  readonly word: Buffer
}

export type LeaderGroup = {
  /** Leaves the group, so that the brokers elect another leader at once. */
  readonly close: () => Promise<void>
}

/** A separate protocol type: the brokers then refuse a consumer that joins by mistake. */
const protocolType = 'threatweave'
const protocolName = 'leader'
const firstPauseMs = 200
const maxPauseMs = 2_000

const sentNow = (): Sent => ({ elapsedMs: performance.now(), time: Date.now() })

/** The longer of the two elapsed times. */
export const ageOf = ({ elapsedMs, time }: Sent): number => Math.max(performance.now() - elapsedMs, Date.now() - time)

/**
 * A leader keeps its role while it is a member. The brokers elect another one only after its session has expired, after it has left, or
 * if it misses a rebalance, which takes a session as well.
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
    await old?.disconnect().catch(() => undefined) // not used again, so errors do not matter
  }
  const limited = <Result>(times: number, what: string, task: () => Promise<Result>): Promise<Result> =>
    answeredWithin(times * sessionMs, what, task)

  /** Joins and stays until the brokers refuse, as they do for every rebalance. */
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
      // Brokers that do not answer must not delay the end. Without a leave request the membership expires with its session.
      await Promise.race([leave(), sleep(leaveMs)])
      await disconnect()
      await Promise.race([running, sleep(leaveMs)])
    },
  }
}

const leaveMs = 2_000

/** After these errors a new join may succeed at once. */
const unplaced = new Set(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION'])
