// Growing typed arrays, and the columns that hold the details of each feed entry.

/**
 * Minimum size of large buffers that are needed only while a feed is loaded. The C library returns a freed block to the system only if it
 * is larger than 32 MB; smaller blocks stay with the process. Unwritten pages of a block take no memory.
 */
const scratchBytes = 40 * 1_048_576
/** Smaller buffers keep their size: retaining them costs little, and V8 would collect garbage for every large allocation. */
const smallBytes = 1_048_576
const roomFor = (length: number): number => (length < smallBytes ? length : Math.max(length, scratchBytes))

/** Scratch space of at least this many bytes, for use while a feed is loaded. */
export const scratch = (length: number): ArrayBuffer => new ArrayBuffer(roomFor(length))
export const scratchWords = (length: number): Uint32Array<ArrayBuffer> =>
  new Uint32Array(scratch(length * 4), 0, length)

type Typed = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>

export type Column<Values extends Typed> = {
  readonly push: (value: number) => void
  readonly values: () => Values
}

export const createColumn = <Values extends Typed>(create: (length: number) => Values): Column<Values> => {
  let values = create(0)
  let length = 0
  return {
    push: (value) => {
      if (length === values.length) {
        const { BYTES_PER_ELEMENT: size } = values
        const larger = create(roomFor(Math.max(length * 2, 256) * size) / size)
        larger.set(values)
        values = larger
      }
      values[length++] = value
    },
    values: () => values.subarray(0, length) as Values,
  }
}

export const bytes = (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length)
export const shorts = (length: number): Uint16Array<ArrayBuffer> => new Uint16Array(length)
export const words = (length: number): Uint32Array<ArrayBuffer> => new Uint32Array(length)

/** Stands for "no score". */
export const noScore = 255

export type DetailArrays = {
  /** Index into the category lists. */
  readonly categories: Uint16Array<ArrayBuffer>
  /** 0 to 100, or `noScore`. */
  readonly scores: Uint8Array<ArrayBuffer>
  /** Epoch seconds since when the entry is listed; a future time is its start of validity. 0: the list does not say. */
  readonly since: Uint32Array<ArrayBuffer>
  /** Epoch seconds when the entry expires, or 0 for never. */
  readonly expires: Uint32Array<ArrayBuffer>
}
export type DetailColumns = {
  readonly categories: Column<Uint16Array<ArrayBuffer>>
  readonly scores: Column<Uint8Array<ArrayBuffer>>
  readonly since: Column<Uint32Array<ArrayBuffer>>
  readonly expires: Column<Uint32Array<ArrayBuffer>>
}

export const createDetailColumns = (): DetailColumns => ({
  categories: createColumn(shorts),
  scores: createColumn(bytes),
  since: createColumn(words),
  expires: createColumn(words),
})

/** The details of the given rows in the given order, in arrays of exact size. */
export const pickDetails = (columns: DetailColumns, rows: Uint32Array): DetailArrays => {
  const from = {
    categories: columns.categories.values(),
    scores: columns.scores.values(),
    since: columns.since.values(),
    expires: columns.expires.values(),
  }
  const categories = shorts(rows.length)
  const scores = bytes(rows.length)
  const since = words(rows.length)
  const expires = words(rows.length)
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] ?? 0
    categories[i] = from.categories[row] ?? 0
    scores[i] = from.scores[row] ?? noScore
    since[i] = from.since[row] ?? 0
    expires[i] = from.expires[row] ?? 0
  }
  return { categories, scores, since, expires }
}

export const isCurrent = ({ since, expires }: DetailArrays, row: number, nowSeconds: number): boolean => {
  const until = expires[row] ?? 0
  return (until === 0 || until > nowSeconds) && (since[row] ?? 0) <= nowSeconds
}

/**
 * Of two rows for the same entry, keeps the one that expires later, then the one with the higher score. It is valid from the earlier start
 * of the two.
 */
export const strongerOf = (columns: DetailColumns, a: number, b: number): number => {
  const stronger = longerOf(columns, a, b)
  const since = columns.since.values()
  since[stronger] = Math.min(since[a] ?? 0, since[b] ?? 0)
  return stronger
}

const longerOf = (columns: DetailColumns, a: number, b: number): number => {
  const until = (row: number): number => columns.expires.values()[row] || Number.POSITIVE_INFINITY
  const score = (row: number): number => {
    const value = columns.scores.values()[row] ?? noScore
    return value === noScore ? -1 : value
  }
  if (until(a) !== until(b)) return until(a) > until(b) ? a : b
  return score(b) > score(a) ? b : a
}
