// One consumer group in its coordinator's memory: members, generations, sessions and rebalances of the classic protocol.
import type { Scheduled } from '../world.js'
import { errors, type RequestBody, type ResponseBody } from '../wire.js'
import type { Term } from './term.js'

export type Joined = ResponseBody<'JoinGroup'>
type JoinRequest = RequestBody<'JoinGroup'>
type Protocols = JoinRequest['protocols']

type Member = {
  readonly id: string
  readonly clientId: string
  sessionMs: number
  rebalanceMs: number
  protocols: Protocols
  assignment: Buffer
  /** True until its first generation is complete. */
  isNew: boolean
  /** Its pending JoinGroup and SyncGroup requests. */
  join: ((joined: Joined) => void) | undefined
  sync: ((error: number, assignment: Buffer) => void) | undefined
  session: Scheduled | undefined
}

/** Written for every assigned generation, and when the last member has left. */
export type StoredGroup = {
  readonly generation: number
  readonly protocolType: string
  readonly protocol: string
  readonly leader: string | undefined
  readonly members: readonly Pick<
    Member,
    'id' | 'clientId' | 'sessionMs' | 'rebalanceMs' | 'protocols' | 'assignment'
  >[]
}

export type GroupState = 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable'

export type GroupOptions = {
  readonly id: string
  readonly term: Term
  /** group.initial.rebalance.delay.ms */
  readonly initialDelayMs: number
  readonly store: (group: StoredGroup) => void
  readonly stored: StoredGroup | undefined
}

/** The maximum wait of a new member's join. */
const newMemberMs = 300_000
const noBytes = Buffer.alloc(0)

export type Group = ReturnType<typeof createGroup>

export const createGroup = ({ id, term, initialDelayMs, store, stored }: GroupOptions) => {
  const { took, world, random } = term
  const members = new Map<string, Member>()
  /** Members that were given an id and have not returned with it. */
  const pending = new Map<string, Scheduled>()
  const unsynced = new Set<string>()
  let state: GroupState = 'Empty'
  let generation = 0
  let protocolType = ''
  let protocol = ''
  let leader: string | undefined
  let wasEmpty = true
  let isMemberAdded = false
  let deadline: Scheduled | undefined
  let syncDeadline: Scheduled | undefined

  const log = (text: string): void => world.log(`group ${id}: ${text}`)
  const cancel = (scheduled: Scheduled | undefined): void => {
    if (scheduled) scheduled.run = undefined
  }
  const go = (next: GroupState): void => {
    wasEmpty = state === 'Empty'
    state = next
  }

  const failed = (errorCode: number, memberId: string): Joined => ({
    throttleTimeMs: 0,
    errorCode,
    generationId: -1,
    protocolName: '',
    leader: '',
    memberId,
    members: [],
  })

  const joinedNow = (member: Member): Joined => ({
    throttleTimeMs: 0,
    errorCode: errors.NONE,
    generationId: generation,
    protocolName: protocol,
    leader: leader ?? '',
    memberId: member.id,
    members:
      member.id === leader
        ? [...members.values()].map((one) => ({
            memberId: one.id,
            groupInstanceId: null,
            metadata: one.protocols.find(({ name }) => name === protocol)?.metadata ?? noBytes,
          }))
        : [],
  })

  // ---- sessions ----

  const heardOf = (member: Member, ms = member.sessionMs): void => {
    cancel(member.session)
    member.session = term.after(ms, () => {
      // A member that waits for a join or sync is alive; a new one may wait only for a limited time.
      if (!member.isNew && (member.join || member.sync)) {
        took('expiry ignored: member waits')
        return
      }
      took('member expired')
      log(`${member.id} expired`)
      remove(member)
      afterRemoval(`${member.id} expired`)
    })
  }

  const remove = (member: Member): void => {
    cancel(member.session)
    members.delete(member.id)
    unsynced.delete(member.id)
    if (leader === member.id) {
      leader = members.keys().next().value
      if (leader !== undefined) took('leader replaced')
    }
    const { join, sync } = member
    member.join = undefined
    member.sync = undefined
    if (join) took('join parked, its member removed')
    join?.(failed(errors.UNKNOWN_MEMBER_ID, ''))
    sync?.(errors.UNKNOWN_MEMBER_ID, noBytes)
  }

  const afterRemoval = (reason: string): void => {
    if (state === 'Stable' || state === 'CompletingRebalance') prepare(reason)
    else if (state === 'PreparingRebalance') completeIfAllJoined()
  }

  // ---- rebalances ----

  const prepare = (reason: string): void => {
    log(`rebalance of generation ${generation}: ${reason}`)
    if (state === 'CompletingRebalance')
      for (const member of members.values()) {
        const { sync } = member
        member.sync = undefined
        if (!sync) continue
        took('rebalance interrupted a sync')
        heardOf(member) // its session may have expired while it waited
        sync(errors.REBALANCE_IN_PROGRESS, noBytes)
      }
    cancel(syncDeadline)
    unsynced.clear()
    const isFirst = state === 'Empty'
    go('PreparingRebalance')
    if (isFirst) {
      const left = Math.max(0, rebalanceMs() - initialDelayMs)
      deadline = term.after(initialDelayMs, () => completeFirst(initialDelayMs, left))
      return
    }
    if (hasEveryoneJoined()) complete()
    else deadline = term.after(rebalanceMs(), complete)
  }

  /** The first generation waits for further members. */
  const completeFirst = (delayMs: number, leftMs: number): void => {
    if (!isMemberAdded || leftMs === 0) {
      complete()
      return
    }
    took('initial delay of a group extended')
    isMemberAdded = false
    const nextMs = Math.min(initialDelayMs, leftMs)
    deadline = term.after(nextMs, () => completeFirst(nextMs, Math.max(0, leftMs - delayMs)))
  }

  const rebalanceMs = (): number => Math.max(0, ...[...members.values()].map((member) => member.rebalanceMs))
  const hasEveryoneJoined = (): boolean =>
    pending.size === 0 && [...members.values()].every(({ join }) => join !== undefined)

  const completeIfAllJoined = (): void => {
    if (state === 'PreparingRebalance' && !wasEmpty && hasEveryoneJoined()) complete()
  }

  const complete = (): void => {
    cancel(deadline)
    for (const member of [...members.values()]) {
      if (member.join) continue
      took('member left behind by a rebalance')
      log(`${member.id} left behind`)
      remove(member)
    }
    generation++
    if (members.size === 0) {
      took('group is empty')
      log(`generation ${generation} is empty`)
      go('Empty')
      leader = undefined
      protocol = ''
      term.write(snapshot(), () => undefined)
      return
    }
    took('joined generation complete')
    go('CompletingRebalance')
    protocol = selectProtocol()
    log(`generation ${generation} of ${[...members.keys()].join(', ')}`)
    for (const member of members.values()) {
      const { join } = member
      member.join = undefined
      member.assignment = noBytes
      join?.(joinedNow(member))
      heardOf(member)
      member.isNew = false
      unsynced.add(member.id)
    }
    const due = generation
    syncDeadline = term.after(rebalanceMs(), () => expireSync(due))
  }

  const expireSync = (due: number): void => {
    if (due !== generation || unsynced.size === 0) return
    if (state !== 'CompletingRebalance' && state !== 'Stable') return
    for (const name of [...unsynced]) {
      took('sync expired')
      const member = members.get(name)
      if (member) remove(member)
    }
    prepare('members that did not sync')
  }

  const selectProtocol = (): string => {
    const all = [...members.values()]
    const common = (all[0]?.protocols ?? [])
      .map(({ name }) => name)
      .filter((name) => all.every(({ protocols }) => protocols.some((one) => one.name === name)))
    const votes = new Map<string, number>()
    for (const { protocols } of all) {
      const choice = protocols.find(({ name }) => common.includes(name))?.name
      if (choice !== undefined) votes.set(choice, (votes.get(choice) ?? 0) + 1)
    }
    return [...votes].sort(([, a], [, b]) => b - a)[0]?.[0] ?? ''
  }

  const isSupported = (request: JoinRequest): boolean => {
    if (members.size === 0) return request.protocolType !== '' && request.protocols.length > 0
    return (
      request.protocolType === protocolType &&
      request.protocols.some(({ name }) =>
        [...members.values()].every(({ protocols }) => protocols.some((one) => one.name === name)),
      )
    )
  }

  const snapshot = (): (() => void) => {
    const group: StoredGroup = {
      generation,
      protocolType,
      protocol,
      leader,
      members: [...members.values()].map(
        ({ id: memberId, clientId, sessionMs, rebalanceMs: ms, protocols, assignment }) => ({
          id: memberId,
          clientId,
          sessionMs,
          rebalanceMs: ms,
          protocols,
          assignment,
        }),
      ),
    }
    return () => store(group)
  }

  // ---- requests ----

  const join = (request: JoinRequest, clientId: string, reply: (joined: Joined) => void): void => {
    const { memberId } = request
    if (!isSupported(request)) {
      took('join refused: other protocols')
      reply(failed(errors.INCONSISTENT_GROUP_PROTOCOL, memberId))
      return
    }
    if (memberId === '') {
      took('member id given')
      const given = `${clientId}-${uuid(random)}`
      pending.set(
        given,
        term.after(request.sessionTimeoutMs, () => {
          took('pending member expired')
          pending.delete(given)
          completeIfAllJoined()
        }),
      )
      reply(failed(errors.MEMBER_ID_REQUIRED, given))
      return
    }
    const waited = pending.get(memberId)
    if (waited) {
      cancel(waited)
      pending.delete(memberId)
      took('new member joined')
      addMember(request, clientId, reply)
      return
    }
    const member = members.get(memberId)
    if (!member) {
      took('join refused: unknown member')
      reply(failed(errors.UNKNOWN_MEMBER_ID, memberId))
      return
    }
    const isSame = sameProtocols(member.protocols, request.protocols)
    const isKept = state === 'CompletingRebalance' ? isSame : state === 'Stable' && isSame && member.id !== leader
    if (isKept) {
      // The last answer was lost, or it is a follower whose metadata is unchanged.
      took('join answered with the current generation')
      reply(joinedNow(member))
      return
    }
    took('member joined again')
    Object.assign(member, settingsOf(request))
    member.join = reply
    if (state === 'PreparingRebalance') completeIfAllJoined()
    else prepare(`${member.id} joined again`)
  }

  const settingsOf = (request: JoinRequest): Pick<Member, 'sessionMs' | 'rebalanceMs' | 'protocols'> => ({
    sessionMs: request.sessionTimeoutMs,
    rebalanceMs: request.rebalanceTimeoutMs,
    protocols: request.protocols.map(({ name, metadata }) => ({ name, metadata: Buffer.from(metadata) })),
  })

  const addMember = (request: JoinRequest, clientId: string, reply: (joined: Joined) => void): void => {
    const member: Member = {
      id: request.memberId,
      clientId,
      ...settingsOf(request),
      assignment: noBytes,
      isNew: true,
      join: reply,
      sync: undefined,
      session: undefined,
    }
    if (members.size === 0) protocolType = request.protocolType
    if (state === 'PreparingRebalance' && wasEmpty) isMemberAdded = true
    members.set(member.id, member)
    leader ??= member.id
    heardOf(member, newMemberMs)
    if (state === 'PreparingRebalance') completeIfAllJoined()
    else prepare(`${member.id} joined`)
  }

  const sync = (request: RequestBody<'SyncGroup'>, reply: (error: number, assignment: Buffer) => void): void => {
    const member = members.get(request.memberId)
    if (!member) {
      took('sync refused: unknown member')
      reply(errors.UNKNOWN_MEMBER_ID, noBytes)
      return
    }
    if (request.generationId !== generation) {
      took('sync refused: old generation')
      reply(errors.ILLEGAL_GENERATION, noBytes)
      return
    }
    if (state === 'PreparingRebalance') {
      took('sync refused: rebalance')
      reply(errors.REBALANCE_IN_PROGRESS, noBytes)
      return
    }
    unsynced.delete(member.id)
    if (state === 'Stable') {
      took('synced when stable')
      heardOf(member)
      reply(errors.NONE, member.assignment)
      return
    }
    member.sync = reply
    if (member.id !== leader) {
      took('synced by a follower')
      return
    }
    took('synced by the leader')
    const given = new Map(request.assignments.map(({ memberId, assignment }) => [memberId, Buffer.from(assignment)]))
    const assigned = generation
    for (const one of members.values()) one.assignment = given.get(one.id) ?? noBytes
    term.write(snapshot(), (error) => {
      if (error !== errors.NONE || state !== 'CompletingRebalance' || generation !== assigned) return
      go('Stable')
      log(`generation ${generation} is stable`)
      for (const one of members.values()) {
        const { sync: answer } = one
        one.sync = undefined
        heardOf(one)
        answer?.(errors.NONE, one.assignment)
      }
    })
  }

  /** The error for a member's request in a generation, if any. */
  const check = (memberId: string, generationId: number): number => {
    if (!members.has(memberId)) return errors.UNKNOWN_MEMBER_ID
    return generationId === generation ? errors.NONE : errors.ILLEGAL_GENERATION
  }

  const heartbeat = ({ memberId, generationId }: RequestBody<'Heartbeat'>): number => {
    const error = check(memberId, generationId)
    const member = members.get(memberId)
    if (error !== errors.NONE || !member) {
      took(
        error === errors.ILLEGAL_GENERATION ? 'heartbeat refused: old generation' : 'heartbeat refused: unknown member',
      )
      return error
    }
    heardOf(member)
    took(state === 'PreparingRebalance' ? 'heartbeat: rebalance' : 'heartbeat')
    return state === 'PreparingRebalance' ? errors.REBALANCE_IN_PROGRESS : errors.NONE
  }

  const leave = (memberIds: readonly string[]): readonly number[] => {
    const left: string[] = []
    const codes = memberIds.map((memberId) => {
      const waited = pending.get(memberId)
      if (waited) {
        cancel(waited)
        pending.delete(memberId)
        took('pending member left')
        left.push(memberId)
        return errors.NONE
      }
      const member = members.get(memberId)
      if (!member) {
        took('leave refused: unknown member')
        return errors.UNKNOWN_MEMBER_ID
      }
      took('member left')
      log(`${memberId} left`)
      remove(member)
      left.push(memberId)
      return errors.NONE
    })
    if (left.length > 0) afterRemoval(`${left.join(', ')} left`)
    return codes
  }

  /** Whether this commit is allowed; transactions need no generation. */
  const mayCommit = (memberId: string, generationId: number, isTransactional: boolean): number => {
    if (generationId < 0 && state === 'Empty') return errors.NONE
    if (generationId >= 0 || memberId !== '') {
      const error = check(memberId, generationId)
      if (error !== errors.NONE) {
        took(error === errors.ILLEGAL_GENERATION ? 'commit refused: old generation' : 'commit refused: unknown member')
        return error
      }
    } else if (!isTransactional) {
      took('commit refused: unknown member')
      return errors.UNKNOWN_MEMBER_ID
    }
    if (!isTransactional && state === 'CompletingRebalance') {
      took('commit refused: rebalance')
      return errors.REBALANCE_IN_PROGRESS
    }
    const member = members.get(memberId)
    if (member && !isTransactional) heardOf(member)
    return errors.NONE
  }

  /** The coordinator moves: waiting clients get an error, and the memory is lost. */
  const unload = (): void => {
    for (const member of members.values()) {
      const { join: parked, sync: synced } = member
      member.join = undefined
      member.sync = undefined
      if (parked) took('join parked, its coordinator moved')
      parked?.(failed(errors.NOT_COORDINATOR, ''))
      synced?.(errors.NOT_COORDINATOR, noBytes)
    }
  }

  if (stored) {
    ;({ generation, protocolType, protocol, leader } = stored)
    for (const one of stored.members) {
      const member: Member = { ...one, isNew: false, join: undefined, sync: undefined, session: undefined }
      members.set(member.id, member)
      heardOf(member)
    }
    if (members.size > 0) {
      took('group loaded with members')
      state = 'Stable'
      wasEmpty = false
    }
  }

  return {
    id,
    get state() {
      return state
    },
    get generation() {
      return generation
    },
    get leader() {
      return leader
    },
    get isUnused() {
      return state === 'Empty' && pending.size === 0
    },
    memberIds: () => [...members.keys()],
    describe: () => ({
      state,
      protocolType,
      protocol: state === 'Stable' ? protocol : '',
      members: [...members.values()].map((one) => ({
        memberId: one.id,
        clientId: one.clientId,
        clientHost: '/127.0.0.1',
        metadata:
          state === 'Stable' ? (one.protocols.find(({ name }) => name === protocol)?.metadata ?? noBytes) : noBytes,
        assignment: state === 'Stable' ? one.assignment : noBytes,
      })),
    }),
    join,
    sync,
    heartbeat,
    leave,
    mayCommit,
    unload,
  }
}

const sameProtocols = (a: Protocols, b: Protocols): boolean =>
  a.length === b.length &&
  a.every(({ name, metadata }, nth) => name === b[nth]?.name && metadata.equals(b[nth].metadata))

const uuid = (random: () => number): string => {
  const hex = Array.from({ length: 8 }, () =>
    Math.floor(random() * 65536)
      .toString(16)
      .padStart(4, '0'),
  ).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
