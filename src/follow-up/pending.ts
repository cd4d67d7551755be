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
  /** For the notes of one partition. `due` is called when some of them become due. */
  readonly open: (due: () => void) => PendingNotes
  /** Of all partitions. */
  readonly size: () => number
  /** Resolves when nothing is noted any more. */
  readonly idle: () => Promise<void>
}

/** The notes of one partition. */
export type PendingNotes = {
  /** Notes committed events of one chunk, which are stored as the block with this id. */
  readonly note: (notes: readonly PendingNote[], id?: string) => void
  /**
   * Notes what the block of a former owner says. What was noted since stays: an event that is delivered again may not have raised the
   * alerts that its first note speaks of.
   */
  readonly restore: (notes: readonly PendingNote[], id: string) => void
  /** What notes that were due still wait for. */
  readonly wait: (notes: readonly PendingNote[]) => void
  /** The blocks that change when these notes are settled and those go on as given; blocks that others have replaced, too. */
  readonly blocksAfter: (settled: readonly number[], open: readonly DueNote[]) => readonly Block[]
  /** Takes notes that are due, in order. They stay noted until they are settled. */
  readonly take: (max: number) => readonly DueNote[]
  readonly settle: (offsets: readonly number[]) => void
  /** Forgets all notes. */
  readonly clear: () => void
}

/** What is noted of one partition, until it is cleared: then there is another one. */
type Notes = {
  readonly due: () => void
  /** The chunk of each, in the order in which they were noted, so the oldest come first. */
  readonly open: Map<number, Chunk>
  /** Chunks that have lost notes to another one: events that were delivered again. */
  readonly outdated: Set<Chunk>
  /** The ids of blocks that were read: of a chunk that is still being delivered, too. */
  readonly restored: Set<string>
  readonly dueOffsets: DueOffsets
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
  /** Called with how many notes did not fit. */
  readonly dropped: (notes: number) => void
  /** All partitions together. Beyond it the oldest notes of the partition with the most are dropped, a sixteenth of the limit at a time. */
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
  /** Of every partition with notes. */
  const noted = new Set<Notes>()
  /** One listener per answer, however many events wait for it. */
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
        // An answer may take hours, and must not keep what was known of a task that is closed.
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
