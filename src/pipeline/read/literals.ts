// Finds in one pass over a text which of many lists have one of their literals in it.

/** By the place of its list, 1 for each that has a literal in the text; nothing where none has. Holds until the next call. */
export type FindLiterals = (text: string) => Uint8Array | undefined

type Literal = { readonly literal: string; readonly list: number }

const keyOf = (first: number, second: number): number => ((first & 0x7f) << 7) | (second & 0x7f)

/** A list without literals is in every text. */
export const compileLiterals = (lists: readonly (readonly string[])[]): FindLiterals => {
  const found = new Uint8Array(lists.length)
  const always = Uint8Array.from(lists, (literals) => (literals.length === 0 || literals.includes('') ? 1 : 0))
  const hasAlways = always.includes(1)
  const all = lists.flatMap((literals, list) => literals.map((literal): Literal => ({ literal, list })))
  const single = all.filter(({ literal }) => literal.length === 1)
  /** Those that begin with the same two characters; most pairs of characters begin none. */
  const byStart: Literal[][] = [[]]
  const starts = new Uint8Array(1 << 14)
  for (const one of all.filter(({ literal }) => literal.length > 1)) {
    const key = keyOf(one.literal.charCodeAt(0), one.literal.charCodeAt(1))
    const seat = starts[key] ?? 0
    // Beyond the last seat all share one: what begins there is compared to the letter anyway.
    if (seat > 0) byStart[seat]?.push(one)
    else if (byStart.length < 255) starts[key] = byStart.push([one]) - 1
    else byStart[(starts[key] = 254)]?.push(one)
  }
  return (text) => {
    found.set(always)
    let isAny = hasAlways
    for (const { literal, list } of single) {
      if (!text.includes(literal)) continue
      found[list] = 1
      isAny = true
    }
    let before = text.charCodeAt(0)
    for (let at = 1; at < text.length; at++) {
      const code = text.charCodeAt(at)
      const seat = starts[((before & 0x7f) << 7) | (code & 0x7f)] ?? 0
      before = code
      if (seat === 0) continue
      for (const { literal, list } of byStart[seat] ?? []) {
        if (found[list] !== 0 || !text.startsWith(literal, at - 1)) continue
        found[list] = 1
        isAny = true
      }
    }
    return isAny ? found : undefined
  }
}
