// The coordinator of one partition of __transaction_state: epochs, states, timeouts and end markers of transactions.
import { errors } from '../wire.js'
import type { Term } from './term.js'

export type TransactionState =
  'Empty' | 'Ongoing' | 'PrepareCommit' | 'PrepareAbort' | 'CompleteCommit' | 'CompleteAbort'

/** The state that survives a change of the coordinator. */
export type Transaction = {
  readonly id: string
  readonly producerId: number
  epoch: number
  state: TransactionState
  timeoutMs: number
  startedAt: number
  /** `topic/partition`, including those of __consumer_offsets. */
  partitions: Set<string>
  /** Only in memory: a write of it is being replicated. */
  isWriting: boolean
}

export type TransactionStore = Map<string, Transaction>

export type Marker = {
  readonly producerId: number
  readonly producerEpoch: number
  readonly committed: boolean
  readonly coordinatorEpoch: number
  readonly timestamp: number
}

export type TransactionCoordinatorOptions = {
  readonly store: TransactionStore
  readonly term: Term
  readonly coordinatorEpoch: number
  readonly nextProducerId: () => number
  /** Delivers a marker to the leader of the partition, with unlimited retries. */
  readonly sendMarker: (partition: string, marker: Marker, done: () => void) => void
}

export type Initialised = { readonly error: number; readonly producerId: number; readonly epoch: number }

/** transaction.max.timeout.ms, and transaction.abort.timed.out.transaction.cleanup.interval.ms */
const maxTimeoutMs = 900_000
const timeoutCheckMs = 10_000

export type TransactionCoordinator = ReturnType<typeof createTransactionCoordinator>

export const createTransactionCoordinator = (options: TransactionCoordinatorOptions) => {
  const { store, term, coordinatorEpoch, nextProducerId, sendMarker } = options
  const { took, world, random } = term
  const checkPhaseMs = random() * timeoutCheckMs

  const transit = (transaction: Transaction, apply: () => void, done: (error: number) => void): void => {
    transaction.isWriting = true
    term.write(apply, (error) => {
      transaction.isWriting = false
      done(error)
    })
  }

  const initialised = (error: number): Initialised => ({ error, producerId: -1, epoch: -1 })

  const initialise = (id: string, timeoutMs: number, reply: (result: Initialised) => void): void => {
    if (id === '' || timeoutMs <= 0 || timeoutMs > maxTimeoutMs) {
      took('initialise refused: invalid')
      reply(initialised(id === '' ? errors.INVALID_REQUEST : errors.INVALID_TRANSACTION_TIMEOUT))
      return
    }
    let known = store.get(id)
    if (!known) {
      known = { id, producerId: nextProducerId(), epoch: -1, state: 'Empty', timeoutMs, startedAt: -1, partitions: new Set(), isWriting: false } // prettier-ignore
      store.set(id, known)
    }
    const transaction = known
    if (transaction.isWriting) {
      took('transaction refused: write in progress')
      reply(initialised(errors.CONCURRENT_TRANSACTIONS))
      return
    }
    switch (transaction.state) {
      case 'PrepareCommit':
      case 'PrepareAbort':
        took('initialise refused: transaction is ending')
        {
          reply(initialised(errors.CONCURRENT_TRANSACTIONS))
          return
        }
      case 'Ongoing':
        // Fences the producer that began it; the client retries until the transaction has ended.
        took('initialise aborts an open transaction')
        {
          end(transaction, false, transaction.epoch + 1, (error) =>
            reply(initialised(error === errors.NONE ? errors.CONCURRENT_TRANSACTIONS : error)),
          )
          return
        }
      case 'Empty':
      case 'CompleteCommit':
      case 'CompleteAbort': {
        const epoch = transaction.epoch + 1
        took(epoch === 0 ? 'transactional id initialised' : 'transactional id initialised again')
        const apply = (): void => {
          Object.assign(transaction, { epoch, state: 'Empty', timeoutMs, startedAt: -1, partitions: new Set() })
          world.log(`transactional id ${id}: producer ${transaction.producerId} epoch ${epoch}`)
        }
        transit(transaction, apply, (error) =>
          reply(error === errors.NONE ? { error, producerId: transaction.producerId, epoch } : initialised(error)),
        )
        return
      }
    }
  }

  /** The transaction, or the error for a producer's request about it. */
  const checked = (id: string, producerId: number, epoch: number): Transaction | number => {
    const transaction = store.get(id)
    if (!transaction) {
      took('transaction refused: unknown id')
      return errors.INVALID_PRODUCER_ID_MAPPING
    }
    if (transaction.producerId !== producerId) {
      took('transaction refused: producer id of another')
      return errors.INVALID_PRODUCER_ID_MAPPING
    }
    if (transaction.epoch !== epoch) {
      took('transaction refused: fenced')
      return errors.PRODUCER_FENCED
    }
    if (transaction.isWriting) {
      took('transaction refused: write in progress')
      return errors.CONCURRENT_TRANSACTIONS
    }
    return transaction
  }

  const isEnding = ({ state }: Transaction): boolean => state === 'PrepareCommit' || state === 'PrepareAbort'

  const addPartitions = (
    id: string,
    producerId: number,
    epoch: number,
    partitions: readonly string[],
    reply: (error: number) => void,
  ): void => {
    const transaction = checked(id, producerId, epoch)
    if (typeof transaction === 'number') {
      reply(transaction)
      return
    }
    if (isEnding(transaction)) {
      took('transaction refused: transaction is ending')
      reply(errors.CONCURRENT_TRANSACTIONS)
      return
    }
    if (transaction.state === 'Ongoing' && partitions.every((one) => transaction.partitions.has(one))) {
      took('partitions already in the transaction')
      reply(errors.NONE)
      return
    }
    const apply = (): void => {
      if (transaction.state !== 'Ongoing') {
        transaction.startedAt = world.ms
        transaction.state = 'Ongoing'
        world.log(`transactional id ${id}: transaction begins in epoch ${epoch}`)
        watchTimeout(transaction)
      }
      transaction.partitions = new Set([...transaction.partitions, ...partitions])
    }
    transit(transaction, apply, reply)
  }

  /** Whether a producer's transaction includes this partition; its leader asks before the first write. */
  const verify = (id: string, producerId: number, epoch: number, partition: string): number => {
    const transaction = store.get(id)
    if (transaction?.producerId !== producerId) return errors.INVALID_PRODUCER_ID_MAPPING
    if (transaction.epoch !== epoch) return errors.PRODUCER_FENCED
    if (isEnding(transaction)) return errors.CONCURRENT_TRANSACTIONS
    return transaction.partitions.has(partition) ? errors.NONE : errors.TRANSACTION_ABORTABLE
  }

  const endByClient = (
    id: string,
    producerId: number,
    epoch: number,
    isCommit: boolean,
    reply: (error: number) => void,
  ): void => {
    const transaction = checked(id, producerId, epoch)
    if (typeof transaction === 'number') {
      reply(transaction)
      return
    }
    const { state } = transaction
    if (state === 'Ongoing') {
      end(transaction, isCommit, epoch, reply)
      return
    }
    if (state === (isCommit ? 'CompleteCommit' : 'CompleteAbort')) {
      took('transaction already ended so')
      reply(errors.NONE)
      return
    }
    if (state === (isCommit ? 'PrepareCommit' : 'PrepareAbort')) {
      took('transaction refused: is ending so')
      reply(errors.CONCURRENT_TRANSACTIONS)
      return
    }
    took('transaction refused: wrong state')
    reply(errors.INVALID_TXN_STATE)
  }

  /** The decision is a single write. The answer follows it, the markers come later. */
  const end = (transaction: Transaction, isCommit: boolean, epoch: number, reply: (error: number) => void): void => {
    took(isCommit ? 'transaction committed' : 'transaction aborted')
    const apply = (): void => {
      transaction.epoch = epoch
      transaction.state = isCommit ? 'PrepareCommit' : 'PrepareAbort'
      world.log(`transactional id ${transaction.id}: ${isCommit ? 'commits' : 'aborts'} in epoch ${epoch}`)
    }
    transit(transaction, apply, (error) => {
      reply(error)
      if (error === errors.NONE) writeMarkers(transaction)
    })
  }

  const writeMarkers = (transaction: Transaction): void => {
    const { producerId, epoch, partitions } = transaction
    const committed = transaction.state === 'PrepareCommit'
    const marker: Marker = { producerId, producerEpoch: epoch, committed, coordinatorEpoch, timestamp: world.now() }
    let left = partitions.size
    const complete = (): void => {
      const apply = (): void => {
        transaction.state = committed ? 'CompleteCommit' : 'CompleteAbort'
        transaction.partitions = new Set()
        took('transaction complete')
        world.log(`transactional id ${transaction.id}: complete`)
      }
      transit(transaction, apply, () => undefined)
    }
    if (left === 0) {
      complete()
      return
    }
    for (const partition of partitions)
      sendMarker(partition, marker, () => {
        if (--left === 0 && !term.isOver()) complete()
      })
  }

  const watchTimeout = (transaction: Transaction): void => {
    const { startedAt } = transaction
    const due = Math.max(startedAt + transaction.timeoutMs, world.ms + 1)
    const check = checkPhaseMs + Math.ceil(Math.max(0, due - checkPhaseMs) / timeoutCheckMs) * timeoutCheckMs
    term.after(check - world.ms, () => {
      if (transaction.state !== 'Ongoing' || transaction.startedAt !== startedAt) return
      if (transaction.isWriting) {
        watchTimeout(transaction)
        return
      }
      took('transaction timed out')
      end(transaction, false, transaction.epoch + 1, () => undefined)
    })
  }

  for (const transaction of store.values()) {
    transaction.isWriting = false
    if (transaction.state === 'Ongoing') watchTimeout(transaction)
    if (isEnding(transaction)) {
      took('transaction ended after its coordinator moved')
      writeMarkers(transaction)
    }
  }

  return { initialise, addPartitions, verify, endByClient }
}
