// Notes which delivered events wait for an answer.
// A note holds the offset only; the event is read again when its answer arrives.

export type PendingNote = {
  readonly offset: number
  /** Earlier firings for the event: a rule and the indicator. In older notes a rule alone, meaning every indicator. */
  readonly fired: readonly string[]
  /** Open answers; a note without any is due at once. */
  readonly awaited: readonly Promise<unknown>[]
  /** Number of failed lookups so far. */
  readonly failures?: number | undefined
  /** Delivered without an answer because the budget was spent. Lookups that live events pay for answer it. */
  readonly isFree?: boolean | undefined
}

export type DueNote = Omit<PendingNote, 'awaited'>

/** The notes of one chunk, stored together. */
export type Block = { readonly id: string; readonly notes: readonly DueNote[] }

export type Pending = {
  /** Opens the notes of one partition. `due` is called when some of them become due. */
  readonly open: (due: () => void) => PendingNotes
  /** Of all partitions. */
  readonly size: () => number
  /** Resolves when no notes are left. */
  readonly idle: () => Promise<void>
}

/** The notes of one partition. */
export type PendingNotes = {
  /** Adds notes for the committed events of one chunk, stored as the block with this id. */
  readonly note: (notes: readonly PendingNote[], id?: string) => void
  /**
   * Adds the notes of an earlier owner's block. Existing notes win: a redelivered event may not have raised the alerts recorded in its
   * first note.
   */
  readonly restore: (notes: readonly PendingNote[], id: string) => void
  /** Returns taken notes whose answers are still open. */
  readonly wait: (notes: readonly PendingNote[]) => void
  /** The blocks to rewrite when these notes are settled and those stay open, and outdated blocks whose notes have moved to another. */
  readonly blocksAfter: (settled: readonly number[], open: readonly DueNote[]) => readonly Block[]
  /** Takes due notes, in order. They count as noted until they are settled. */
  readonly take: (max: number) => readonly DueNote[]
  readonly settle: (offsets: readonly number[]) => void
  /** Forgets all notes. */
  readonly clear: () => void
}

/** The notes of one partition until they are cleared; a new object follows. */
type Notes = {
  readonly due: () => void
  /** The chunk of each offset, in insertion order, so the oldest come first. */
  readonly open: Map<number, Chunk>
  /** Chunks that lost notes to a later chunk, because events were delivered again. */
  readonly outdated: Set<Chunk>
  /** Ids of restored blocks, possibly of a chunk that is still being delivered. */
  readonly restored: Set<string>
  readonly dueOffsets: DueOffsets
  /** Notes being followed up. They are exempt from dropping: otherwise an event could be both dropped and corrected. */
  readonly taken: Set<number>
  /** Taken notes that were noted again meanwhile. The outcome of the old note does not settle the new one. */
  readonly renewed: Set<number>
  /** Only for notes with more than an offset. */
  readonly more: Map<number, Omit<DueNote, 'offset'>>
}

/** Shared, because a spent budget leaves hundreds of thousands of such notes. */
const onlyFree: Omit<DueNote, 'offset'> = { fired: [], isFree: true }

type Chunk = { readonly id: string; readonly offsets: readonly number[] }

type PendingOptions = {
  /** Called with the number of notes that did not fit. */
  readonly dropped: (notes: number) => void
  /** Limit for all partitions. Beyond it, the partition with the most notes loses its oldest ones, a sixteenth of the limit at a time. */
  readonly max: number
}

const noNotes = (due: () => void): Notes => ({
  due,
  open: new Map(),
  outdated: new Set(),
  restored: new Set(),
  dueOffsets: createDueOffsets(),
  taken: new Set(),
  renewed: new Set(),
  more: new Map(),
})

export const createPending = ({ dropped, max }: PendingOptions): Pending => {
  /** All partitions with notes. */
  const noted = new Set<Notes>()
  /** One listener per answer, regardless of how many events wait for it. */
  const waiting = new Map<Promise<unknown>, Map<Notes, number[]>>()
  const whenIdle = new Set<() => void>()
  let size = 0

  const arrived = (promise: Promise<unknown>): void => {
    const offsetsOf = waiting.get(promise)
    waiting.delete(promise)
    for (const [partition, offsets] of offsetsOf ?? []) markDue(partition, offsets)
  }

  const markDue = (partition: Notes, offsets: readonly number[]): void => {
    const open = offsets.filter((offset) => partition.open.has(offset))
    for (const offset of open) partition.dueOffsets.add(offset)
    if (open.length > 0) partition.due()
  }

  const listen = (partition: Notes, notes: readonly PendingNote[]): void => {
    const ready: number[] = []
    for (const { offset, fired, failures, isFree, awaited } of notes) {
      const isOnlyFree = isFree && fired.length === 0 && failures === undefined
      if (isOnlyFree) partition.more.set(offset, onlyFree)
      else if (fired.length > 0 || failures !== undefined) partition.more.set(offset, { fired, failures, isFree })
      if (awaited.length === 0) ready.push(offset)
      for (const promise of awaited) offsetsThatAwait(promise, partition).push(offset)
    }
    if (ready.length > 0) markDue(partition, ready)
  }

  const offsetsThatAwait = (promise: Promise<unknown>, partition: Notes): number[] => {
    let offsetsOf = waiting.get(promise)
    if (!offsetsOf) {
      waiting.set(promise, (offsetsOf = new Map<Notes, number[]>()))
      const arrive = (): void => arrived(promise)
      promise.then(arrive, arrive)
    }
    const offsets = offsetsOf.get(partition) ?? []
    offsetsOf.set(partition, offsets)
    return offsets
  }

  const remove = (partition: Notes, offset: number): void => {
    if (partition.open.delete(offset)) size--
    partition.taken.delete(offset)
    partition.more.delete(offset)
  }

  /** False if there is none to drop. */
  const dropOldest = (): boolean => {
    const [largest] = [...noted].toSorted((a, b) => b.open.size - a.open.size)
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

  const note = (partition: Notes, notes: readonly PendingNote[], chunk: Chunk): void => {
    noted.add(partition)
    // The block was restored while its chunk was being delivered, and some of its notes may have moved to other blocks. Rewrite it before
    // those.
    if (partition.restored.delete(chunk.id)) partition.outdated.add(chunk)
    for (const { offset } of notes) {
      const former = partition.open.get(offset)
      if (!former) size++
      else if (former.id !== chunk.id) partition.outdated.add(former)
      if (partition.taken.delete(offset)) partition.renewed.add(offset)
      partition.open.set(offset, chunk)
      partition.more.delete(offset)
    }
    listen(partition, notes)
    while (size > max && dropOldest());
  }

  const openNotes = (due: () => void): PendingNotes => {
    let partition = noNotes(due)
    return {
      note: (notes, id = String(notes[0]?.offset)) => {
        if (notes.length > 0) note(partition, notes, { id, offsets: notes.map(({ offset }) => offset) })
      },
      restore: (notes, id) => {
        const chunk = { id, offsets: notes.map(({ offset }) => offset) }
        const unknown = notes.filter(({ offset }) => !partition.open.has(offset))
        if (unknown.length < notes.length) partition.outdated.add(chunk)
        note(partition, unknown, chunk)
        partition.restored.add(id)
      },
      wait: (notes) => {
        for (const { offset } of notes) partition.taken.delete(offset)
        const open = notes.filter(({ offset }) => !partition.renewed.delete(offset) && partition.open.has(offset))
        listen(partition, open)
      },
      blocksAfter: (settled, open) => {
        const isRenewed = (offset: number): boolean => partition.renewed.has(offset)
        const gone = new Set(settled.filter((offset) => !isRenewed(offset)))
        const stays = open.filter(({ offset }) => !isRenewed(offset))
        const firedBy = new Map(stays.map(({ offset, fired }) => [offset, fired]))
        const firedBefore = (offset: number): readonly string[] => partition.more.get(offset)?.fired ?? []
        const changed = stays.filter(({ offset, fired }) => fired.length > firedBefore(offset).length)
        const touched = new Set(partition.outdated)
        for (const offset of [...gone, ...changed.map((one) => one.offset)]) {
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
      take: (count) => {
        const { open, dueOffsets, taken, more } = partition
        const due = dueOffsets.take(count, (offset) => open.has(offset))
        for (const offset of due) taken.add(offset)
        return due.map((offset) => ({ offset, ...(more.get(offset) ?? { fired: [] }) }))
      },
      settle: (offsets) => {
        for (const offset of offsets) if (!partition.renewed.delete(offset)) remove(partition, offset)
        partition.outdated.clear()
        if (size === 0) for (const resolve of whenIdle) resolve()
      },
      clear: () => {
        size -= partition.open.size
        noted.delete(partition)
        // An answer may take hours, and must not keep the notes of a closed task in memory.
        for (const offsetsOf of waiting.values()) offsetsOf.delete(partition)
        partition = noNotes(due)
      },
    }
  }

  return {
    open: openNotes,
    size: () => size,
    idle: () =>
      new Promise((resolve) => {
        if (size === 0) resolve()
        else whenIdle.add(resolve)
      }),
  }
}

// Offsets that are due, taken in ascending order. One sort serves many takes, as there may be hundreds of thousands.

type DueOffsets = {
  readonly add: (offset: number) => void
  /** Takes up to `max` offsets, without unwanted ones. Empty only if none are due. */
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
