// Which delivered events still wait for an answer: one offset each, never the event, which is read again when its answer is there.

export type PendingNote = {
  readonly offset: number
  /** Rules that have already fired for the event. */
  readonly fired: readonly string[]
  /** What it waits for; with nothing to wait for it is due at once. */
  readonly awaited: readonly Promise<unknown>[]
  /** How often its lookups failed since. */
  readonly failures?: number | undefined
}

export type DueNote = Omit<PendingNote, 'awaited'>

/** All partitions together. Beyond it the oldest notes of the partition with the most are dropped, a sixteenth of the limit at a time. */
export const maxPendingNotes = 500_000

export type Pending = {
  /** Notes events of a partition that are committed, or again what still waits after it was due. */
  readonly note: (partition: string, notes: readonly PendingNote[]) => void
  /** Takes notes that are due, in order. They stay noted until they are settled. */
  readonly take: (partition: string, max: number) => readonly DueNote[]
  readonly settle: (partition: string, offsets: readonly number[]) => void
  /** Forgets all notes of a partition, for it has another owner now. */
  readonly forget: (partition: string) => void
  readonly size: () => number
  /** Resolves when nothing is noted any more. */
  readonly idle: () => Promise<void>
}

type Partition = {
  /** In the order in which they were noted, so the oldest come first. */
  readonly open: Set<number>
  readonly due: Set<number>
  /** Only of notes that have something more to say than their offset. */
  readonly more: Map<number, Pick<DueNote, 'fired' | 'failures'>>
}

export type PendingOptions = {
  /** Called when notes of a partition become due. */
  readonly due: (partition: string) => void
  /** Called with how many notes did not fit. */
  readonly dropped: (notes: number) => void
  readonly max?: number
}

const nothingMore = { fired: [] }

export const createPending = ({ due, dropped, max = maxPendingNotes }: PendingOptions): Pending => {
  const partitions = new Map<string, Partition>()
  /** One listener per answer, however many events wait for it. */
  const waiting = new Map<Promise<unknown>, Map<string, number[]>>()
  const whenIdle = new Set<() => void>()
  let size = 0

  const arrived = (promise: Promise<unknown>): void => {
    const offsetsOf = waiting.get(promise)
    waiting.delete(promise)
    for (const [name, offsets] of offsetsOf ?? []) markDue(name, offsets)
  }

  const markDue = (name: string, offsets: readonly number[]): void => {
    const partition = partitions.get(name)
    if (!partition) return
    for (const offset of offsets) if (partition.open.has(offset)) partition.due.add(offset)
    if (partition.due.size > 0) due(name)
  }

  const listen = (name: string, { offset, awaited }: PendingNote): void => {
    for (const promise of awaited) {
      let offsetsOf = waiting.get(promise)
      if (!offsetsOf) {
        waiting.set(promise, (offsetsOf = new Map<string, number[]>()))
        const arrive = (): void => arrived(promise)
        promise.then(arrive, arrive)
      }
      const offsets = offsetsOf.get(name)
      if (offsets) offsets.push(offset)
      else offsetsOf.set(name, [offset])
    }
  }

  const remove = (partition: Partition, offset: number): void => {
    if (partition.open.delete(offset)) size--
    partition.due.delete(offset)
    partition.more.delete(offset)
  }

  const dropOldest = (): void => {
    const [largest] = [...partitions.values()].toSorted((a, b) => b.open.size - a.open.size)
    if (!largest) return
    const before = size
    const enough = max - Math.max(1, max >> 4)
    for (const offset of largest.open) {
      if (size <= enough) break
      remove(largest, offset)
    }
    dropped(before - size)
  }

  return {
    note: (name, notes) => {
      if (notes.length === 0) return
      const partition = partitions.get(name) ?? { open: new Set(), due: new Set(), more: new Map() }
      partitions.set(name, partition)
      const ready: number[] = []
      for (const note of notes) {
        const { offset, fired, failures, awaited } = note
        if (!partition.open.has(offset)) size++
        partition.open.add(offset)
        if (fired.length > 0 || failures !== undefined) partition.more.set(offset, { fired, failures })
        if (awaited.length === 0) ready.push(offset)
        else listen(name, note)
      }
      while (size > max) dropOldest()
      if (ready.length > 0) markDue(name, ready)
    },
    take: (name, count) => {
      const partition = partitions.get(name)
      if (!partition) return []
      const taken = [...partition.due].sort((a, b) => a - b).slice(0, count)
      for (const offset of taken) partition.due.delete(offset)
      return taken.map((offset) => ({ offset, ...(partition.more.get(offset) ?? nothingMore) }))
    },
    settle: (name, offsets) => {
      const partition = partitions.get(name)
      if (!partition) return
      for (const offset of offsets) remove(partition, offset)
      if (size === 0) for (const resolve of whenIdle) resolve()
    },
    forget: (name) => {
      size -= partitions.get(name)?.open.size ?? 0
      partitions.delete(name)
    },
    size: () => size,
    idle: () =>
      new Promise((resolve) => {
        if (size === 0) resolve()
        else whenIdle.add(resolve)
      }),
  }
}
