// Runs the transactions of an input partition under exactly-once, one after the other.
// Each commit carries a unique mark. If the answer to a commit is lost, the group's committed metadata shows whether it counted.
import type { Kafka, Producer, Transaction } from '../kafka/client.js'
import { failureOf } from '../kafka/failure.js'
import type { Assigned } from '../kafka/fetched.js'
import { claimTransactions, sendTransaction } from '../kafka/producers.js'
import type { Send } from '../kafka/records.js'
import { areSameCommit, besideIn, metadataOf, writeIn, type Beside, type Commit } from '../kafka/commit-metadata.js'
import { inTurn } from './in-turn.js'
import type { DeliveryOptions, PartitionEvents } from './delivery.js'
import { readPosition } from './read-position.js'
import { noRefusals, type Refusals } from './refusals.js'
import { mustHold } from './must-hold.js'
import { createTaskStates, type Ending, type TaskStates } from './task-states.js'

/** The right to write for the partition, from a join until the next join or a failure. */
export type Claim = {
  readonly generation: number
  readonly producer: Producer
  transaction: Transaction
  readonly next: () => Promise<Transaction>
  hasDelivered: boolean
  /** All earlier records are committed or deleted. */
  readonly offset: number
  /** The group's commit; undefined if there is none. */
  readonly commit: Commit | undefined
  /** Id of the topic that the offset belongs to. */
  readonly topicId: string | undefined
  readonly isFormer: boolean
}

type Reached = {
  /** The next offset to read, or `stays` for the committed one. */
  readonly offset: number | 'stays'
  readonly beside?: Beside | undefined
  /** Commits of other partitions, made under the claim of this one. */
  readonly others?: readonly (Commit & { readonly partition: number })[]
}

type InTransaction = {
  /** Resolves with the position to commit. */
  readonly send: (send: Send) => Promise<Reached | 'nothing'>
  /** Called once it is known whether the transaction was committed. */
  readonly settled: (hasCounted: boolean) => void
}

export type PartitionTransactions = {
  readonly name: string
  readonly refusals: Refusals
  readonly happens: TaskStates['happens']
  readonly isClosed: () => boolean
  /** The claim in use; undefined while there is none. */
  readonly current: () => Claim | undefined
  /** Gives up the claim, if it is the one in use. */
  readonly leave: (claim: Claim | undefined) => void
  /** Claims once per generation. Call it through `inTurn`. Rejects if the partition is no longer assigned to this process. */
  readonly claim: () => Promise<Claim>
  /**
   * Call it through `inTurn`. On failure it rejects and gives up the claim: a later write that continued the transaction would commit a
   * part of it.
   */
  readonly commit: (claim: Claim, transaction: InTransaction) => Promise<void>
  /** Runs a task while no other work of the partition is in progress. */
  readonly inTurn: <Result>(task: () => Promise<Result>) => Promise<Result>
  /** Call when the partition stays here after another join. */
  readonly kept: (assigned: Assigned) => void
  /** Waits for a commit in progress, unless the process stops. */
  readonly close: (ending: Ending) => Promise<void>
}

type TransactionOptions = Pick<DeliveryOptions, 'startingOffsets' | 'settings' | 'emit' | 'fail'> &
  Pick<PartitionEvents, 'takenOver' | 'readIn' | 'unclaimed'> & {
    readonly kafka: Kafka
    readonly now: () => number
    /** Id of this process, written into its commits. */
    readonly owner: string
  }

export const openTransactions = (first: Assigned, options: TransactionOptions): PartitionTransactions => {
  const { settings, owner, takenOver, readIn, unclaimed, fail } = options
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
  /** The last commit of the group that this process knows of. */
  let known: Known | undefined
  /** Number of the last committed transaction of this process. */
  let count = 0
  let isCommitting = false
  /** Closed, with no work left in progress. */
  let isReleased = false
  /** A commit without an answer. */
  let doubt: { readonly commit: Commit; readonly settled: InTransaction['settled'] } | undefined

  const drop = (): void => {
    if (claimed) discard(claimed.producer)
    claimed = undefined
  }

  const leave = (claim: Claim | undefined): void => {
    if (!claim || claimed !== claim) return
    drop()
    if (!isClosed()) unclaimed(assigned)
  }

  const counted = (commit: Commit, topicId: string | undefined, settled: InTransaction['settled']): void => {
    const n = ownIn(commit)
    mustHold(n === count + 1, () => `${name}: write ${n} follows write ${count}`, fail)
    known = { commit, topicId }
    count = n
    settled(true)
  }

  const ownIn = (commit: Commit | undefined): number => {
    const write = writeIn(commit?.metadata)
    return write?.owner === owner ? write.n : 0
  }

  /**
   * Why local knowledge is stale, if it is: another process has written since the last claim, the outcome of a commit is unknown, or the
   * topic was created again.
   */
  const compare = ({ commit, topicId }: Claim): Ending | undefined => {
    const before = known
    const open = doubt
    doubt = undefined
    const n = ownIn(commit)
    // An earlier task of this process may have written, and the numbers continue from there.
    if (!before) count = n
    const last = open ? count + 1 : count
    mustHold(n <= last, () => `${name}: the group has committed write ${n}, and the last one is ${last}`, fail)
    if (open) states.happens('commit unknown')
    const isSameTopic = !before || before.topicId === topicId
    if (isSameTopic && open && areSameCommit(commit, open.commit)) {
      counted(open.commit, topicId, open.settled)
      return undefined
    }
    open?.settled(false)
    known = { commit, topicId }
    if (!isSameTopic) return 'recreated'
    return !before || areSameCommit(commit, before.commit) ? undefined : 'lost'
  }

  const claim = async (): Promise<Claim> =>
    claimed?.generation === assigned.generation ? claimed : states.claiming(claimAnew)

  const claimAnew = async (): Promise<Claim> => {
    const now = assigned
    // A claim after the close would miss commits that others have made by now.
    if (isClosed()) throw new Error(`${name} is not assigned any more`)
    drop()
    const made = await claimPartition(now, known?.topicId ?? readIn, options, () => !isOver)
    const ending = compare(made)
    if (ending) {
      discard(made.producer)
      if (!isClosed()) takenOver(assigned, ending)
      throw new Error(`${name} was another process's in between, or another topic's`)
    }
    claimed = made
    return made
  }

  const commit: PartitionTransactions['commit'] = async (owned, transaction) => {
    mustHold(!isReleased, () => `${name}: a transaction begins after the partition was closed`, fail)
    mustHold(claimed === owned && !doubt, () => `${name}: a claim is used that was given up`, fail)
    mustHold(!isCommitting, () => `${name}: two transactions are in progress`, fail)
    isCommitting = true
    try {
      await commitNext(owned, transaction)
    } finally {
      isCommitting = false
    }
  }

  const commitNext: PartitionTransactions['commit'] = async (owned, { send, settled }) => {
    const { transaction, topicId } = owned
    let next: Commit
    try {
      const reached = await send(sendTransaction(transaction, settings.output.compression, options))
      if (reached === 'nothing') return
      if (isOver) throw new Error(`${name} is left: this process ends`)
      const { offset, others = [] } = reached
      const stays = offset === 'stays'
      const position = stays ? Number(known?.commit?.offset ?? owned.offset) : offset
      const beside = reached.beside ?? (stays ? besideIn(known?.commit?.metadata) : undefined)
      next = { offset: String(position), metadata: metadataOf(topicId, { owner, n: count + 1 }, beside) }
      await transaction.sendOffsets({
        consumerGroupId: settings.groupId,
        topics: [{ topic, partitions: [{ partition, ...next }, ...others] }],
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
      owned.transaction = await owned.next()
    } catch (error) {
      states.happens(doubt ? 'commit unknown' : 'broken')
      leave(owned)
      throw error
    }
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
    kept: (again) => {
      states.happens('joined')
      assigned = again
    },
    close: (ending) => {
      states.happens(ending)
      hasClosed = true
      isOver = ending === 'stopped'
      // Sends in progress fail.
      if (isOver) drop()
      return inTurn(turns, () => {
        const open = doubt
        doubt = undefined
        if (open) states.happens('commit unknown')
        // The next owner reads the open follow-ups from the sightings topic.
        open?.settled(false)
        drop()
        isReleased = true
        return Promise.resolve()
      })
    },
  }
}

/** A commit, and the id of the topic that it belongs to. */
type Known = { readonly commit: Commit | undefined; readonly topicId: string | undefined }

/**
 * Claims a partition after a join or a failure. Work in progress is dropped. A new producer then fences the previous one and ends its
 * transaction; only after that is the committed offset reliable. Membership is proved before and after, because a process that slept past
 * its session must not fence the owner.
 */
const claimPartition = async (
  assigned: Assigned,
  readIn: string | undefined,
  { kafka, startingOffsets, settings, emit }: TransactionOptions,
  goesOn: () => boolean,
): Promise<Claim> => {
  const { topic, partition, generation } = assigned
  await assigned.proveMembership()
  if (!goesOn()) throw new Error('this process ends')
  const { groupId, transactionalIdPrefix: prefix } = settings
  const { producer, transaction, next } = await claimTransactions(kafka, { prefix, groupId, topic, partition })
  try {
    await assigned.proveMembership()
    const position = await readPosition(assigned, startingOffsets, readIn)
    const { offset } = position
    emit({ event: 'partition_claimed', topic, partition, offset })
    return { ...position, generation, producer, transaction, next, hasDelivered: false, offset: Number(offset) }
  } catch (error) {
    discard(producer)
    throw error
  }
}

/** The producer is not used again, so errors of its disconnect do not matter. */
const discard = (producer: Producer): void => {
  producer.disconnect().catch(() => undefined)
}
