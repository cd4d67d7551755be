// Growing typed arrays, and the ones that hold what a feed says about each of its entries.

/**
 * The size of what is only needed while a feed is loaded. The C library returns a block to the system when it is released only if it
 * is larger than 32 MB; smaller ones stay with the process. What is never written of a block takes no memory.
 */
const scratchBytes = 40 * 1_048_576
/** What stays of a smaller block does not matter, and V8 would collect garbage for every large one. */
const smallBytes = 1_048_576
const roomFor = (length: number): number => (length < smallBytes ? length : Math.max(length, scratchBytes))

/** Space for so many bytes while a feed is loaded. */
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
  /** Which list of categories. */
  readonly categories: Uint16Array<ArrayBuffer>
  /** 0 to 100, or `noScore`. */
  readonly scores: Uint8Array<ArrayBuffer>
  /** Epoch seconds since when it is listed, where the list states it; ahead of now, from when on it counts. 0: not stated. */
  readonly since: Uint32Array<ArrayBuffer>
  /** Epoch seconds after which the entry no longer counts, or 0. */
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

/** The details of these rows, in their order, in arrays of exactly their size. */
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

/** Of two rows for the same entry the one that counts longer, then the one with the higher score. It counts from the earlier start on. */
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
