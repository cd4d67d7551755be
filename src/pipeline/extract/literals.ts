// Finds in one pass over a line which of many short texts occur in it.

type Wanted = { readonly text: string; readonly offset: number; readonly numbers: readonly number[] }

/** The characters that log lines are full of, the most common first; all others are rare. */
const common = ' 0123456789eatoinsr.lcd-:/"=pumhgfbv_,[]'
const rarityOf = (char: string): number => (common.includes(char) ? common.indexOf(char) : common.length)

/**
 * For each list of texts: does the line hold one of them? A text is looked for by its rarest character, so that most characters of a line cost one
 * look into a table, however many texts there are. Calls `found` with the number of each list at least once.
 */
export const createLiteralFinder = (
  lists: readonly (readonly string[])[],
): ((line: string, found: (list: number) => void) => void) => {
  const byText = new Map<string, number[]>()
  lists.forEach((texts, number) => {
    for (const text of texts) byText.set(text, [...(byText.get(text) ?? []), number])
  })
  const wanted = [...byText].map(([text, numbers]): Wanted => {
    const chars = Array.from({ length: text.length }, (_, at) => text.charAt(at))
    const rarest = Math.max(...chars.map(rarityOf))
    return { text, offset: chars.findIndex((char) => rarityOf(char) === rarest), numbers }
  })
  const byCode = new Map<number, readonly Wanted[]>()
  const isWanted = new Uint8Array(65_536)
  for (const one of wanted) {
    const code = one.text.charCodeAt(one.offset)
    byCode.set(code, [...(byCode.get(code) ?? []), one])
    isWanted[code] = 1
  }
  return (line, found) => {
    for (let at = 0; at < line.length; at++) {
      const code = line.charCodeAt(at)
      if (isWanted[code] === 0) continue
      for (const { text, offset, numbers } of byCode.get(code) ?? [])
        if (line.startsWith(text, at - offset)) for (const number of numbers) found(number)
    }
  }
}
