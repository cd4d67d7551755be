// Applies insertions and deletions to bytes.

export type Edit = { readonly at: number; readonly until: number; readonly text: string }

/** Edits must not overlap; two at the same place are applied in the given order. */
export const applyEdits = (bytes: Buffer, edits: readonly Edit[]): Buffer => {
  const pieces: Buffer[] = []
  let done = 0
  for (const { at, until, text } of edits.toSorted((a, b) => a.at - b.at || a.until - b.until)) {
    pieces.push(bytes.subarray(done, at), Buffer.from(text))
    done = until
  }
  pieces.push(bytes.subarray(done))
  return Buffer.concat(pieces)
}
