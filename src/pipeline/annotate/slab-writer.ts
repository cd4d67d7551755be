// Slab writer: assembles annotated events in slabs of memory, with one copy of the event's bytes and no allocation for each.

export type SlabWriter = {
  /** Starts a text of its own; one at a time. */
  readonly begin: () => void
  readonly bytes: (bytes: Buffer) => void
  /** Forgets so many of the bytes last written. */
  readonly takeBack: (count: number) => void
  /** Text that is ASCII throughout. */
  readonly ascii: (text: string) => void
  readonly text: (text: string) => void
  /** The text, in memory that nothing else will write to. */
  readonly end: () => Buffer
}

/** Texts share slabs of this size; one that is kept keeps its slab, so copy what outlives a batch. */
const slabBytes = 65_536
const lowBytes = 4096
/** Below this a call into the runtime takes longer than the text itself. */
const shortest = 24

export const createSlabWriter = (): SlabWriter => {
  let slab = Buffer.allocUnsafeSlow(slabBytes)
  let start = 0
  let at = 0

  const makeRoom = (bytes: number): void => {
    if (at + bytes <= slab.length) return
    const next = Buffer.allocUnsafeSlow(Math.max(slabBytes, 2 * (at - start + bytes)))
    slab.copy(next, 0, start, at)
    at -= start
    start = 0
    slab = next
  }

  return {
    begin: () => {
      if (slab.length - at < lowBytes || slab.length > slabBytes) {
        slab = Buffer.allocUnsafeSlow(slabBytes)
        at = 0
      }
      start = at
    },
    bytes: (given) => {
      makeRoom(given.length)
      slab.set(given, at)
      at += given.length
    },
    takeBack: (count) => {
      at -= count
    },
    ascii: (given) => {
      const { length } = given
      makeRoom(length)
      if (length > shortest) slab.write(given, at, 'latin1')
      else for (let i = 0; i < length; i++) slab[at + i] = given.charCodeAt(i)
      at += length
    },
    text: (given) => {
      makeRoom(given.length * 3)
      at += slab.write(given, at, 'utf8')
    },
    end: () => slab.subarray(start, at),
  }
}
