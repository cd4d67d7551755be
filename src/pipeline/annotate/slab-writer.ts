// Assembles annotated events in large memory slabs, without an allocation per event.

type SlabWriter = {
  /** Starts a new text; only one text can be open. */
  readonly begin: () => void
  readonly bytes: (bytes: Buffer) => void
  /** Removes the last bytes written. */
  readonly takeBack: (count: number) => void
  /** Writes ASCII text. */
  readonly ascii: (text: string) => void
  readonly text: (text: string) => void
  /** Returns the text; its memory is not written again. */
  readonly end: () => Buffer
}

/** Texts share slabs of this size and keep them alive, so copy any text that must outlive a batch. */
const slabBytes = 65_536
const lowBytes = 4096
/** Upper limit of the spare room that a large text gets for the annotation after it. */
const spareBytes = 65_536
/** For shorter texts a native call is slower than a loop. */
const shortest = 24

export const createSlabWriter = (): SlabWriter => {
  let slab = Buffer.allocUnsafeSlow(slabBytes)
  let start = 0
  let at = 0

  const makeRoom = (bytes: number): void => {
    if (at + bytes <= slab.length) return
    const needed = at - start + bytes
    const next = Buffer.allocUnsafeSlow(Math.max(slabBytes, needed + Math.min(needed, spareBytes)))
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
