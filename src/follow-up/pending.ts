// Which delivered events still wait for an answer: one offset each, never the event, which is read again when its answer is there.

export type PendingNote = {
  readonly offset: number
  /** What has already fired for the event: a rule and the indicator; in older notes a rule, for every indicator. */
  readonly fired: readonly string[]
  /** What it waits for; with nothing to wait for it is due at once. */
  readonly awaited: readonly Promise<unknown>[]
  /** How often its lookups failed since. */
  readonly failures?: number | undefined
  /** It left because the budget was spent: lookups that live events pay for answer it. */
  readonly isFree?: boolean | undefined
}

export type DueNote = Omit<PendingNote, 'awaited'>

/** Notes of one chunk, which are stored together. */
export type Block = { readonly id: string; readonly notes: readonly DueNote[] }

export type Pending = {
  /** Notes committed events of one chunk, which are stored as the block with this id. */
  readonly note: (partition: string, notes: readonly PendingNote[], id?: string) => void
  /**
   * Notes what the block of a former owner says. What was noted since stays: an event that is delivered again may not have raised the
   * alerts that its first note speaks of.
   */
  readonly restore: (partition: string, notes: readonly PendingNote[], id: string) => void
  /** What notes that were due still wait for. */
  readonly wait: (partition: string, notes: readonly PendingNote[]) => void
  /** The blocks that change when these notes are settled and those go on as given; blocks that others have replaced, too. */
  readonly blocksAfter: (partition: string, settled: readonly number[], open: readonly DueNote[]) => readonly Block[]
  /** The ids of the blocks of a partition. */
  readonly blocks: (partition: string) => readonly string[]
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
  /** The chunk of each, in the order in which they were noted, so the oldest come first. */
  readonly open: Map<number, Chunk>
  /** Chunks that have lost notes to another one: events that were delivered again. */
  readonly outdated: Set<Chunk>
  /** The ids of blocks that were read: of a chunk that is still being delivered, too. */
  readonly restored: Set<string>
  readonly due: DueOffsets
  /** Those that are being followed up: they are not dropped, for they would be both dropped and corrected. */
  readonly taken: Set<number>
  /** Those of them that were noted anew meanwhile: what becomes of the former note says nothing about this one. */
  readonly renewed: Set<number>
  /** Only of notes that have something more to say than their offset. */
  readonly more: Map<number, Omit<DueNote, 'offset'>>
}

/** Of a spent budget there are hundreds of thousands. */
const onlyFree: Omit<DueNote, 'offset'> = { fired: [], isFree: true }

type Chunk = { readonly id: string; readonly offsets: readonly number[] }

type PendingOptions = {
  /** Called when notes of a partition become due. */
  readonly due: (partition: string) => void
  /** Called with how many notes did not fit. */
  readonly dropped: (notes: number) => void
  /** All partitions together. Beyond it the oldest notes of the partition with the most are dropped, a sixteenth of the limit at a time. */
  readonly max: number
}

const newPartition = (): Partition => ({
  open: new Map(),
  outdated: new Set(),
  restored: new Set(),
  due: createDueOffsets(),
  taken: new Set(),
  renewed: new Set(),
  more: new Map(),
})

export const createPending = ({ due, dropped, max }: PendingOptions): Pending => {
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
    const open = offsets.filter((offset) => partition.open.has(offset))
    for (const offset of open) partition.due.add(offset)
    if (open.length > 0) due(name)
  }

  const listen = (name: string, partition: Partition, notes: readonly PendingNote[]): void => {
    const ready: number[] = []
    for (const { offset, fired, failures, isFree, awaited } of notes) {
      const isOnlyFree = isFree && fired.length === 0 && failures === undefined
      if (isOnlyFree) partition.more.set(offset, onlyFree)
      else if (fired.length > 0 || failures !== undefined) partition.more.set(offset, { fired, failures, isFree })
      if (awaited.length === 0) ready.push(offset)
      for (const promise of awaited) offsetsThatAwait(promise, name).push(offset)
    }
    if (ready.length > 0) markDue(name, ready)
  }

  const offsetsThatAwait = (promise: Promise<unknown>, name: string): number[] => {
    let offsetsOf = waiting.get(promise)
    if (!offsetsOf) {
      waiting.set(promise, (offsetsOf = new Map<string, number[]>()))
      const arrive = (): void => arrived(promise)
      promise.then(arrive, arrive)
    }
    const offsets = offsetsOf.get(name) ?? []
    offsetsOf.set(name, offsets)
    return offsets
  }

  const remove = (partition: Partition, offset: number): void => {
    if (partition.open.delete(offset)) size--
    partition.taken.delete(offset)
    partition.more.delete(offset)
  }

  /** False if there is none to drop. */
  const dropOldest = (): boolean => {
    const [largest] = [...partitions.values()].toSorted((a, b) => b.open.size - a.open.size)
    if (!largest) return false
    const before = size
    const enough = max - Math.max(1, max >> 4)
    for (const offset of largest.open.keys()) {
      if (size <= enough) break
      if (!largest.taken.has(offset)) remove(largest, offset)
    }
    if (size < before) dropped(before - size)
    return size < before
  }

  const partitionOf = (name: string): Partition => {
    const partition = partitions.get(name) ?? newPartition()
    partitions.set(name, partition)
    return partition
  }

  const note = (name: string, notes: readonly PendingNote[], chunk: Chunk): void => {
    const partition = partitionOf(name)
    // Its block was read before it was delivered, and what is in others may have been taken out of it since. It is written before those others.
    if (partition.restored.delete(chunk.id)) partition.outdated.add(chunk)
    for (const { offset } of notes) {
      const former = partition.open.get(offset)
      if (!former) size++
      else if (former.id !== chunk.id) partition.outdated.add(former)
      if (partition.taken.delete(offset)) partition.renewed.add(offset)
      partition.open.set(offset, chunk)
      partition.more.delete(offset)
    }
    listen(name, partition, notes)
    while (size > max && dropOldest());
  }

  return {
    note: (name, notes, id = String(notes[0]?.offset)) => {
      if (notes.length > 0) note(name, notes, { id, offsets: notes.map(({ offset }) => offset) })
    },
    restore: (name, notes, id) => {
      const { open, outdated, restored } = partitionOf(name)
      const chunk = { id, offsets: notes.map(({ offset }) => offset) }
      const unknown = notes.filter(({ offset }) => !open.has(offset))
      if (unknown.length < notes.length) outdated.add(chunk)
      note(name, unknown, chunk)
      restored.add(id)
    },
    wait: (name, notes) => {
      const partition = partitions.get(name)
      if (!partition) return
      for (const { offset } of notes) partition.taken.delete(offset)
      const open = notes.filter(({ offset }) => !partition.renewed.delete(offset) && partition.open.has(offset))
      listen(name, partition, open)
    },
    blocksAfter: (name, settled, open) => {
      const partition = partitions.get(name)
      if (!partition) return []
      const isRenewed = (offset: number): boolean => partition.renewed.has(offset)
      const gone = new Set(settled.filter((offset) => !isRenewed(offset)))
      const stays = open.filter(({ offset }) => !isRenewed(offset))
      const firedBy = new Map(stays.map(({ offset, fired }) => [offset, fired]))
      const firedBefore = (offset: number): readonly string[] => partition.more.get(offset)?.fired ?? []
      const changed = stays.filter(({ offset, fired }) => fired.length > firedBefore(offset).length)
      const touched = new Set(partition.outdated)
      for (const offset of [...gone, ...changed.map((note) => note.offset)]) {
        const chunk = partition.open.get(offset)
        if (chunk) touched.add(chunk)
      }
      return [...touched].map(({ id, offsets }) => ({
        id,
        notes: offsets
          .filter((offset) => !gone.has(offset) && partition.open.get(offset)?.id === id)
          .map((offset) => ({
            offset,
            fired: firedBy.get(offset) ?? firedBefore(offset),
            isFree: partition.more.get(offset)?.isFree,
          })),
      }))
    },
    blocks: (name) => [...new Set([...(partitions.get(name)?.open.values() ?? [])].map(({ id }) => id))],
    take: (name, count) => {
      const partition = partitions.get(name)
      if (!partition) return []
      const taken = partition.due.take(count, (offset) => partition.open.has(offset))
      for (const offset of taken) partition.taken.add(offset)
      return taken.map((offset) => ({ offset, ...(partition.more.get(offset) ?? { fired: [] }) }))
    },
    settle: (name, offsets) => {
      const partition = partitions.get(name)
      if (!partition) return
      for (const offset of offsets) if (!partition.renewed.delete(offset)) remove(partition, offset)
      partition.outdated.clear()
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

// Offsets that are due, taken in ascending order: sorted once for many takes, as there may be hundreds of thousands.

type DueOffsets = {
  readonly add: (offset: number) => void
  /** Some, at most `max`, without those that are no longer wanted; none only if there are none. */
  readonly take: (max: number, isWanted: (offset: number) => boolean) => readonly number[]
}

const createDueOffsets = (): DueOffsets => {
  const added = new Set<number>()
  /** Descending. */
  let sorted: number[] = []
  return {
    add: (offset) => void added.add(offset),
    take: (max, isWanted) => {
      const taken: number[] = []
      while (taken.length < max) {
        const next = sorted.pop()
        if (next !== undefined) {
          if (isWanted(next)) taken.push(next)
        } else if (taken.length > 0 || added.size === 0) break
        else {
          sorted = [...added].sort((one, other) => other - one)
          added.clear()
        }
      }
      return taken
    },
  }
}
