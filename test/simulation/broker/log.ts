// The log of one partition: batches as bytes, checks of appends, read limits, and deletion.
import {
  batchHead,
  buildMarker,
  checksumHolds,
  errors,
  placeBatch,
  readRecords,
  stampBatch,
  type BatchHead,
} from '../wire.js'
import type { Took } from './paths.js'

export type StoredBatch = {
  readonly base: number
  readonly last: number
  readonly bytes: Buffer
  readonly head: BatchHead
  /** Only in control batches. */
  readonly marker?: 'commit' | 'abort'
  /** Only in control batches: the epoch of the sending coordinator. */
  readonly coordinatorEpoch?: number
  /** Size of the log before this batch in bytes. */
  readonly position: number
}

export type AbortedTransaction = {
  readonly producerId: number
  readonly firstOffset: number
  /** The offset of its marker. */
  readonly lastOffset: number
}

type Appended = {
  readonly firstSequence: number
  readonly lastSequence: number
  readonly base: number
  readonly last: number
}

type ProducerState = {
  epoch: number
  coordinatorEpoch: number
  /** The latest appends of this epoch, to detect repeated batches. */
  recent: Appended[]
  /** The first offset of its open transaction. */
  openedAt: number | undefined
}

export type Produced =
  | { readonly error: typeof errors.NONE; readonly base: number; readonly last: number; readonly isDuplicate: boolean }
  | { readonly error: Exclude<number, 0>; readonly base: -1 }

/** The read limits of all readers and of read_committed readers. */
export type Reach = { readonly high: number; readonly stable: number }

export type TopicLimits = {
  readonly maxMessageBytes: number
  readonly isCompacted: boolean
  readonly latestTime: number
  /** Set for topics that replace record timestamps with the broker's time. */
  readonly appendTime?: number
}

/** The number of appends that Kafka remembers per producer. */
const rememberedAppends = 5
const indexEveryBytes = 4096

export type Log = ReturnType<typeof createLog>

export const createLog = (took: Took, changed: (batch: StoredBatch) => void = () => undefined) => {
  let batches: StoredBatch[] = []
  let start = 0
  let end = 0
  let high = 0
  let position = 0
  /** Sparse like Kafka's, because it determines how many aborted transactions a response lists. */
  let index: { readonly position: number; readonly offset: number }[] = []
  let sinceIndexed = 0
  let aborted: AbortedTransaction[] = []
  /** Transactions whose marker is not replicated yet; they are still unstable. */
  let ending: { readonly first: number; readonly marker: number }[] = []
  const producers = new Map<number, ProducerState>()
  const waiting = new Set<() => void>()

  const wake = (): void => {
    for (const waiter of [...waiting]) waiter()
  }

  const stable = (): number => {
    let least = high
    for (const { openedAt } of producers.values()) if (openedAt !== undefined && openedAt < least) least = openedAt
    for (const { first } of ending) if (first < least) least = first
    return least
  }

  const reach = (): Reach => ({ high, stable: stable() })

  type MarkerOf = Required<Pick<StoredBatch, 'marker' | 'coordinatorEpoch'>>

  const store = (given: Buffer, leaderEpoch: number, marker?: MarkerOf): StoredBatch => {
    const bytes = placeBatch(given, end, leaderEpoch)
    const head = batchHead(bytes)
    const batch = { base: end, last: head.lastOffset, bytes, head, position, ...marker }
    if (sinceIndexed > indexEveryBytes) {
      index.push({ position, offset: batch.last })
      sinceIndexed = 0
    }
    sinceIndexed += bytes.length
    position += bytes.length
    batches.push(batch)
    end = batch.last + 1
    changed(batch)
    return batch
  }

  const refused = (error: number): Produced => ({ error, base: -1 })

  /** Errors of a batch that do not depend on its producer. */
  const invalid = (bytes: Buffer, head: BatchHead, limits: TopicLimits): number => {
    if (bytes.length > limits.maxMessageBytes) {
      took('produce refused: too large')
      return errors.MESSAGE_TOO_LARGE
    }
    if (head.magic !== 2 || head.bytes !== bytes.length || !checksumHolds(bytes)) {
      took('produce refused: checksum')
      return errors.CORRUPT_MESSAGE
    }
    const isWellFormed =
      head.count > 0 &&
      head.lastOffset - head.baseOffset + 1 === head.count &&
      !head.control &&
      (head.producerId < 0 || head.baseSequence >= 0) &&
      !(limits.isCompacted && head.codec <= 1 && readRecords(bytes).some(({ key }) => key === null))
    if (!isWellFormed) {
      took('produce refused: invalid batch')
      return errors.INVALID_RECORD
    }
    if (head.maxTimestamp > limits.latestTime) {
      took('produce refused: time in the future')
      return errors.INVALID_TIMESTAMP
    }
    return errors.NONE
  }

  const lastSequenceOf = (head: BatchHead): number => (head.baseSequence + head.count - 1) % 2 ** 31

  /** Whether the next batch of a producer is out of order. */
  const outOfOrder = (known: ProducerState | undefined, head: BatchHead): boolean => {
    if (!known) {
      // A broker that has no state of a producer, for example because its records were deleted, accepts any sequence.
      if (head.baseSequence !== 0) took('new producer began at another sequence than 0')
      return false
    }
    if (known.epoch !== head.producerEpoch) return head.baseSequence !== 0
    return head.baseSequence !== ((known.recent.at(-1)?.lastSequence ?? -1) + 1) % 2 ** 31
  }

  /** `isVerified`: the transaction coordinator has this partition in the producer's transaction. */
  const produce = (given: Buffer, leaderEpoch: number, isVerified: boolean, limits: TopicLimits): Produced => {
    const head = batchHead(given)
    const error = invalid(given, head, limits)
    if (error !== errors.NONE) return refused(error)
    if (limits.appendTime !== undefined) took('produced with the time of the broker')
    const bytes = limits.appendTime === undefined ? given : stampBatch(given, limits.appendTime)
    if (head.producerId < 0) {
      took('produced without a producer id')
      const { base, last } = store(bytes, leaderEpoch)
      return { error: errors.NONE, base, last, isDuplicate: false }
    }
    const known = producers.get(head.producerId)
    const [firstSequence, lastSequence] = [head.baseSequence, lastSequenceOf(head)]
    const former =
      known?.epoch === head.producerEpoch
        ? known.recent.find((one) => one.firstSequence === firstSequence && one.lastSequence === lastSequence)
        : undefined
    if (former) {
      took('produced again: duplicate sequence')
      return { error: errors.NONE, base: former.base, last: former.last, isDuplicate: true }
    }
    if (head.transactional && !isVerified && !hasOngoing(head.producerId, head.producerEpoch)) {
      took('produce refused: not in a transaction')
      return refused(errors.INVALID_TXN_STATE)
    }
    if (known && head.producerEpoch < known.epoch) {
      took('produce refused: old producer epoch')
      return refused(errors.INVALID_PRODUCER_EPOCH)
    }
    if (outOfOrder(known, head)) {
      took('produce refused: out of order sequence')
      return refused(errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
    }
    if (known?.openedAt !== undefined && !head.transactional) {
      took('produce refused: no transactional write in a transaction')
      return refused(errors.INVALID_TXN_STATE)
    }
    took(head.transactional ? 'produced in a transaction' : 'produced')
    if (known && known.epoch !== head.producerEpoch) took('new epoch of a producer in a log')
    const batch = store(bytes, leaderEpoch)
    remember(batch)
    return { error: errors.NONE, base: batch.base, last: batch.last, isDuplicate: false }
  }

  /** Updates the producer state from a batch in the log. */
  const remember = ({ base, last, head, marker, coordinatorEpoch }: StoredBatch): void => {
    if (head.producerId < 0) return
    let known = producers.get(head.producerId)
    if (!known) {
      known = { epoch: head.producerEpoch, coordinatorEpoch: -1, recent: [], openedAt: undefined }
      producers.set(head.producerId, known)
    }
    if (known.epoch !== head.producerEpoch) {
      known.epoch = head.producerEpoch
      known.recent = []
    }
    if (marker) {
      known.openedAt = undefined
      known.coordinatorEpoch = coordinatorEpoch ?? known.coordinatorEpoch
      return
    }
    known.recent.push({ firstSequence: head.baseSequence, lastSequence: lastSequenceOf(head), base, last })
    if (known.recent.length > rememberedAppends) known.recent.shift()
    if (head.transactional) known.openedAt ??= base
  }

  const hasOngoing = (producerId: number, epoch: number): boolean => {
    const known = producers.get(producerId)
    return known?.openedAt !== undefined && known.epoch === epoch
  }

  type Marker = {
    readonly committed: boolean
    readonly producerId: number
    readonly producerEpoch: number
    readonly coordinatorEpoch: number
    readonly timestamp: number
  }

  const endTransaction = (marker: Marker, leaderEpoch: number): number => {
    const known = producers.get(marker.producerId)
    if (known && marker.producerEpoch < known.epoch) {
      took('marker refused: old epoch')
      return errors.INVALID_PRODUCER_EPOCH
    }
    // Otherwise a delayed marker of a previous coordinator would end the next transaction of the same producer.
    if (known && marker.coordinatorEpoch < known.coordinatorEpoch) {
      took('marker refused: former coordinator')
      return errors.TRANSACTION_COORDINATOR_FENCED
    }
    const openedAt = known?.openedAt
    took(openedAt === undefined ? 'marker written again' : 'marker written')
    const batch = store(buildMarker(marker), leaderEpoch, {
      marker: marker.committed ? 'commit' : 'abort',
      coordinatorEpoch: marker.coordinatorEpoch,
    })
    remember(batch)
    if (openedAt === undefined) return errors.NONE
    if (!marker.committed)
      aborted.push({ producerId: marker.producerId, firstOffset: openedAt, lastOffset: batch.last })
    ending.push({ first: openedAt, marker: batch.last })
    return errors.NONE
  }

  const advanceHigh = (to: number): void => {
    if (to <= high) return
    high = Math.min(to, end)
    ending = ending.filter(({ marker }) => marker >= high)
    wake()
  }

  /** The index of the first batch that reaches this offset. */
  const find = (offset: number): number => {
    let [least, most] = [0, batches.length]
    while (least < most) {
      const middle = (least + most) >> 1
      if ((batches[middle] as StoredBatch).last < offset) least = middle + 1
      else most = middle
    }
    return least
  }

  type Read = {
    readonly error: number
    readonly records: Buffer
    readonly aborted: readonly AbortedTransaction[] | null
  }

  /** Reads at most `maxBytes` and cuts off the last batch like Kafka; with `whole`, at least one whole batch. */
  const read = (offset: number, maxBytes: number, whole: boolean, committedOnly: boolean, upTo = reach()): Read => {
    if (offset < start || offset > end) {
      took(offset < start ? 'fetch refused: out of range below' : 'fetch refused: out of range above')
      return { error: errors.OFFSET_OUT_OF_RANGE, records: nothing, aborted: null }
    }
    if (offset > upTo.high) took('fetch beyond the high watermark')
    const limit = committedOnly ? upTo.stable : upTo.high
    if (committedOnly && limit < upTo.high && offset <= limit) took('fetch held back by the last stable offset')
    const parts: Buffer[] = []
    let left = maxBytes
    const from = find(offset)
    const first = batches[from]
    for (let at = from; at < batches.length && left > 0; at++) {
      const { base, bytes } = batches[at] as StoredBatch
      if (base >= limit) break
      if (parts.length === 0 && base < offset) took('fetch began inside a batch')
      if (bytes.length > left && !(whole && parts.length === 0)) {
        // Sends no partial first batch, because a reader could not use it.
        if (parts.length > 0) {
          took('fetch cut off a batch')
          parts.push(bytes.subarray(0, left))
        }
        break
      }
      parts.push(bytes)
      left -= bytes.length
    }
    const records = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
    if (!committedOnly) return { error: errors.NONE, records, aborted: null }
    const reach = (first?.position ?? position) + records.length
    const upper = index.find((entry) => entry.position >= reach)?.offset ?? end
    const named =
      records.length === 0 ? [] : aborted.filter((one) => one.lastOffset >= offset && one.firstOffset < upper)
    if (named.length > 0) took('fetch with aborted transactions')
    return { error: errors.NONE, records, aborted: named }
  }

  /** The first readable record that is not older than `time`. */
  const offsetAt = (time: number, committedOnly: boolean): { readonly offset: number; readonly timestamp: number } => {
    const limit = committedOnly ? stable() : high
    for (const { base, head, bytes, last } of batches) {
      if (last < start || head.maxTimestamp < time || head.control) continue
      if (base >= limit) break
      if (head.codec > 1) return { offset: base, timestamp: head.firstTimestamp } // codecs that only the program reads
      const record = readRecords(bytes).find(({ timestamp, offset }) => timestamp >= time && offset >= start)
      if (record && record.offset < limit) {
        took('offsets listed by time')
        return { offset: record.offset, timestamp: record.timestamp }
      }
    }
    took('offsets listed by time: none so late')
    return { offset: -1, timestamp: -1 }
  }

  /** A new leader did not have the last records: they and their producer state are lost. */
  const truncate = (to: number): void => {
    const gone = batches.filter(({ base }) => base >= to)
    if (gone.length === 0) return
    took('records truncated by a new leader')
    batches = batches.filter(({ base }) => base < to)
    end = to
    position = gone[0]?.position ?? position
    index = index.filter((entry) => entry.position < position)
    aborted = aborted.filter(({ lastOffset }) => lastOffset < to)
    ending = ending.filter(({ marker }) => marker < to)
    const touched = new Set(gone.map(({ head }) => head.producerId))
    for (const id of touched) producers.delete(id)
    for (const batch of batches) if (touched.has(batch.head.producerId)) remember(batch)
    wake()
  }

  /** After a restart a broker knows only the last append of each producer, from a snapshot. */
  const forgetAppendsBefore = (offset: number): void => {
    for (const known of producers.values()) {
      const before = known.recent.filter(({ base }) => base < offset)
      known.recent = [...before.slice(-1), ...known.recent.slice(before.length)]
    }
  }

  /** Deletes whole batches; the log start may be inside the first remaining one. */
  const deleteBefore = (offset: number): void => {
    if (offset <= start) return
    took('log start moved')
    start = Math.min(offset, high)
    batches = batches.filter(({ last }) => last >= start)
    aborted = aborted.filter(({ lastOffset }) => lastOffset >= start)
    wake()
  }

  return {
    get start() {
      return start
    },
    get end() {
      return end
    },
    get high() {
      return high
    },
    get batches(): readonly StoredBatch[] {
      return batches
    },
    get aborted(): readonly AbortedTransaction[] {
      return aborted
    },
    waiting,
    wake,
    stable,
    reach,
    produce,
    hasOngoing,
    endTransaction,
    advanceHigh,
    read,
    offsetAt,
    truncate,
    forgetAppendsBefore,
    deleteBefore,
    /** Appends a batch without checks, as input from a test. */
    append: (bytes: Buffer, leaderEpoch: number): StoredBatch => {
      const batch = store(bytes, leaderEpoch)
      remember(batch)
      return batch
    },
  }
}

const nothing = Buffer.alloc(0)
