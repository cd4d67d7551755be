// The transactions of an input partition under exactly-once, one after the other. Each commits the position with a mark of its own, so what the group has
// committed says whether one counted whose answer was lost.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka, Producer, Transaction } from '../kafka/client.js'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import type { Assigned } from '../kafka/fetched.js'
import { claimTransactions, sendTransaction } from '../kafka/producers.js'
import type { Send } from '../kafka/records.js'
import { areSameCommit, metadataOf, type Commit } from '../kafka/commit-metadata.js'
import { inTurn } from './in-turn.js'
import type { DeliveryOptions } from './delivery.js'
import { forgetAll, noRefusals, type Refusals } from './refusals.js'
import { createTaskStates, type TaskStates } from './task-states.js'

/** The right to write on behalf of the partition, from a join to the next one or to a failure. */
export type Claim = {
  readonly generation: number
  readonly producer: Producer
  transaction: Transaction
  hasDelivered: boolean
  /** Everything before it is committed, or deleted. */
  readonly offset: number
  /** What the group has committed; undefined: nothing. */
  readonly commit: Commit | undefined
  /** The id of the topic that it is in. */
  readonly topicId: string | undefined
}

type InTransaction = {
  /** Resolves with the position to commit: of what is sent next, or `stays`. Nothing is committed for `nothing`. */
  readonly send: (send: Send) => Promise<number | 'stays' | 'nothing'>
  /** Called once: when it is known whether the transaction has counted. */
  readonly settled: (hasCounted: boolean) => void
}

export type PartitionTransactions = {
  readonly name: string
  readonly refusals: Refusals
  readonly happens: TaskStates['happens']
  readonly isClosed: () => boolean
  /** The claim in use; undefined until there is another one. */
  readonly current: () => Claim | undefined
  /** The claim in use is given up. */
  readonly leave: (claim: Claim | undefined) => void
  /** Once per generation. Call in turn. Rejects if the partition is not assigned to this process any more. */
  readonly claim: () => Promise<Claim>
  /** Call in turn. Rejects if it failed, and the claim is given up then: whoever is next must not go on with the transaction, and commit a part of it. */
  readonly commit: (claim: Claim, transaction: InTransaction) => Promise<void>
  /** Nothing else is in progress for the partition meanwhile. */
  readonly inTurn: <Result>(task: () => Promise<Result>) => Promise<Result>
  /** Whether a commit has counted is known at the next claim. If another join came since this generation, it may bring no batch that claims. */
  readonly settleDoubt: (generation: number) => void
  /** It stays here after another join. */
  readonly kept: (assigned: Assigned) => void
  /** A commit that is in progress is waited for, unless the process ends. */
  readonly close: (isEnding: boolean) => Promise<void>
}

type TransactionOptions = Pick<DeliveryOptions, 'startingOffsets' | 'settings' | 'form' | 'emit'> & {
  readonly kafka: Kafka
  /** Of this process. */
  readonly owner: string
  /** Another process has had the partition since the last claim, or nobody can tell: what is known of it is out of date. */
  readonly takenOver: (assigned: Assigned) => void
}

/** Before a claim that failed is tried again. */
export const againMs = 1_000

export const openTransactions = (first: Assigned, options: TransactionOptions): PartitionTransactions => {
  const { settings, form, owner, emit, takenOver } = options
  const { topic, partition } = first
  const name = `${topic}/${partition}`
  const refusals = noRefusals()
  const states = createTaskStates()
  const turns = { turn: Promise.resolve<unknown>(undefined) }
  let assigned = first
  let hasClosed = false
  const isClosed = (): boolean => hasClosed
  let isOver = false
  let claimed: Claim | undefined
  /** What the group has committed, as far as is known here. */
  let known: Known | undefined
  /** How many transactions have counted. */
  let count = 0
  /** One whose commit was not answered. */
  let doubt: { readonly commit: Commit; readonly settled: InTransaction['settled'] } | undefined

  const leave = (claim: Claim | undefined): void => {
    if (!claim || claimed !== claim) return
    claimed = undefined
    discard(claim.producer)
  }

  const counted = (commit: Commit, topicId: string | undefined, settled: InTransaction['settled']): void => {
    known = { commit, topicId }
    count++
    settled(true)
  }

  /** False if nobody can say what others have written since the last claim. */
  const compare = ({ commit, topicId }: Claim): boolean => {
    const before = known
    const open = doubt
    doubt = undefined
    if (open) states.happens('commit unknown')
    if (before && before.topicId !== topicId) states.happens('recreated')
    if (before?.topicId !== topicId) forgetAll(refusals)
    if (before && before.topicId === topicId && open && areSameCommit(commit, open.commit)) {
      counted(open.commit, topicId, open.settled)
      return true
    }
    open?.settled(false)
    known = { commit, topicId }
    if (!before) return true
    // In a topic that was created again nobody has committed yet.
    return before.topicId === topicId ? areSameCommit(commit, before.commit) : commit === undefined
  }

  const claim = async (): Promise<Claim> =>
    claimed?.generation === assigned.generation ? claimed : states.claiming(claimAnew)

  const claimAnew = async (): Promise<Claim> => {
    const now = assigned
    // What others have closed by now would be missing from what is delivered.
    if (isClosed()) throw new Error(`${name} is not assigned any more`)
    leave(claimed)
    const made = await claimPartition(now, options, () => !isOver)
    if (!compare(made)) {
      discard(made.producer)
      if (!isClosed()) takenOver(assigned)
      throw new Error(`${name} was another process's in between`)
    }
    claimed = made
    return made
  }

  const commit: PartitionTransactions['commit'] = async (owned, { send, settled }) => {
    if (claimed !== owned || doubt) throw new FatalKafkaError(`${name}: a claim is used that was given up`)
    const { transaction, topicId } = owned
    let next: Commit
    try {
      const reached = await send(sendTransaction(transaction, settings.output.compression, form))
      if (reached === 'nothing') return
      if (isOver) throw new Error(`${name} is left: this process ends`)
      const position = reached === 'stays' ? Number(known?.commit?.offset ?? owned.offset) : reached
      next = { offset: String(position), metadata: metadataOf(topicId, { owner, n: count + 1 }) }
      await transaction.sendOffsets({
        consumerGroupId: settings.groupId,
        topics: [{ topic, partitions: [{ partition, ...next }] }],
      })
    } catch (error) {
      states.happens(failureOf(error).kind === 'refused' ? 'refused' : 'broken')
      leave(owned)
      settled(false)
      throw error
    }
    doubt = { commit: next, settled }
    try {
      await transaction.commit()
      doubt = undefined
      counted(next, topicId, settled)
      owned.transaction = await owned.producer.transaction()
    } catch (error) {
      states.happens(doubt ? 'commit unknown' : 'broken')
      leave(owned)
      throw error
    }
  }

  /** Events may come late or never: what follows from a commit does not wait for them. */
  const settleDoubt = async (): Promise<void> => {
    const now = assigned
    while (!isClosed() && doubt && assigned === now)
      await inTurn(turns, claim).catch((error: unknown) => {
        emit({ event: 'kafka_client_warned', about: name, message: failureOf(error).message })
        return sleep(againMs, undefined, { ref: false })
      })
  }

  return {
    name,
    refusals,
    happens: states.happens,
    isClosed,
    current: () => claimed,
    leave,
    claim,
    commit,
    inTurn: (task) => inTurn(turns, task),
    settleDoubt: (generation) => {
      if (assigned.generation !== generation) void settleDoubt()
    },
    kept: (again) => {
      states.happens('joined')
      assigned = again
      void settleDoubt()
    },
    close: (isEnding) => {
      states.happens(isEnding ? 'stopped' : 'lost')
      hasClosed = true
      isOver = isEnding
      // What is being sent fails.
      if (isOver) leave(claimed)
      return inTurn(turns, () => {
        const open = doubt
        doubt = undefined
        if (open) states.happens('commit unknown')
        // What is to follow is read from the sightings topic by the next owner.
        open?.settled(false)
        leave(claimed)
        return Promise.resolve()
      })
    },
  }
}

/** In the topic with this id. */
type Known = { readonly commit: Commit | undefined; readonly topicId: string | undefined }

/**
 * Done after every join and after every failure: what was in progress is dropped, a new producer fences the last
 * one and ends its transaction, and only then is the committed offset reliable. Membership is proved before and after: a process that
 * slept past its session must not fence the owner.
 */
const claimPartition = async (
  assigned: Assigned,
  { kafka, startingOffsets, settings, emit }: TransactionOptions,
  goesOn: () => boolean,
): Promise<Claim> => {
  const { topic, partition, generation } = assigned
  await assigned.proveMembership()
  if (!goesOn()) throw new Error('this process ends')
  const { groupId, transactionalIdPrefix: prefix } = settings
  const { producer, transaction } = await claimTransactions(kafka, { prefix, groupId, topic, partition })
  try {
    await assigned.proveMembership()
    const { topicId, offsets, committed } = await startingOffsets(topic, [partition])
    const offset = offsets.get(partition) ?? '0'
    assigned.seek(offset)
    emit({ event: 'partition_claimed', topic, partition, offset })
    const commit = committed.get(partition)
    return { generation, producer, transaction, hasDelivered: false, offset: Number(offset), commit, topicId }
  } catch (error) {
    discard(producer)
    throw error
  }
}

/** It is not used again, however its disconnection ends. */
const discard = (producer: Producer): void => {
  producer.disconnect().catch(() => undefined)
}
