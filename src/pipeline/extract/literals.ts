// Finds in one pass over a line which of many short texts occur in it.

/** `at`: where in the text its search pair, two characters, begins. */
type Wanted = { readonly text: string; readonly at: number; readonly lists: readonly number[] }

/** The characters that are frequent in log lines, the most common first; all others are rare. */
const common = ' 0123456789eatoinsr.lcd-:/"=pumhgfbv_,[]THGEDP'
const rarityOf = (char: string): number => (common.includes(char) ? common.indexOf(char) : common.length)

/** The table slot of two neighbouring characters; different pairs may share a slot. */
const placeOf = (one: number, next: number): number => ((one << 7) ^ next) & 0x3fff

/**
 * Finds the lists with at least one text in the line. Each text is searched by its rarest pair of characters, so most
 * characters of a line cost one table lookup, regardless of the number of texts. May call `found` more than once for a list.
 */
export const createLiteralFinder = (
  lists: readonly (readonly string[])[],
): ((line: string, found: (list: number) => void) => void) => {
  const listsOf = new Map<string, number[]>()
  lists.forEach((texts, number) => {
    for (const text of texts) listsOf.set(text, [...(listsOf.get(text) ?? []), number])
  })
  const single: Wanted[] = []
  const wantedAt = new Map<number, Wanted[]>()
  const isWanted = new Uint8Array(0x4000)
  for (const [text, numbers] of listsOf) {
    if (text.length < 2) {
      single.push({ text, at: 0, lists: numbers })
      continue
    }
    const pairs = Array.from({ length: text.length - 1 }, (_, at) => ({
      at,
      rarity: rarityOf(text.charAt(at)) + rarityOf(text.charAt(at + 1)),
    }))
    const { at } = pairs.reduce((rarest, pair) => (pair.rarity > rarest.rarity ? pair : rarest))
    const place = placeOf(text.charCodeAt(at), text.charCodeAt(at + 1))
    wantedAt.set(place, [...(wantedAt.get(place) ?? []), { text, at, lists: numbers }])
    isWanted[place] = 1
  }
  return (line, found) => {
    for (const { text, lists: numbers } of single) if (line.includes(text)) for (const number of numbers) found(number)
    let one = line.charCodeAt(0)
    for (let next = 1; next < line.length; next++) {
      const code = line.charCodeAt(next)
      const place = placeOf(one, code)
      one = code
      if (isWanted[place] === 0) continue
      for (const { text, at, lists: numbers } of wantedAt.get(place) ?? [])
        if (line.startsWith(text, next - 1 - at)) for (const number of numbers) found(number)
    }
  }
}
