// Applies insertions and deletions to bytes.

export type Edit = { readonly at: number; readonly until: number; readonly text: string | Buffer }

/** Deletions. Adjacent ones are merged, because a hostile event may have a million. */
export const createCuts = () => {
  const edits: Edit[] = []
  return {
    edits,
    add: ({ from, to }: { readonly from: number; readonly to: number }): void => {
      const before = edits.at(-1)
      if (before?.until === from) edits[edits.length - 1] = { ...before, until: to }
      else edits.push({ at: from, until: to, text: '' })
    },
  }
}

/** Edits must not overlap; two at the same place are applied in the given order. */
export const applyEdits = (bytes: Buffer, edits: readonly Edit[]): Buffer => {
  let { length } = bytes
  for (const { at, until, text } of edits) length += Buffer.byteLength(text) - (until - at)
  const edited = Buffer.allocUnsafe(length)
  let written = 0
  let done = 0
  for (const { at, until, text } of edits.toSorted((a, b) => a.at - b.at || a.until - b.until)) {
    written += bytes.copy(edited, written, done, at)
    written += typeof text === 'string' ? edited.write(text, written) : text.copy(edited, written)
    done = until
  }
  bytes.copy(edited, written, done)
  return edited
}
