// Takes key=value and key:"value" pairs out of a line, with any separator between them.
// Loops, not regular expressions: lines of pairs are long, and they are most of the text that is read.

export type Pair = { readonly key: string; readonly value: string; readonly start: number; readonly end: number }

const maxPairs = 1024

const tableOf = (...chars: readonly string[]): Uint8Array => {
  const table = new Uint8Array(128)
  for (const char of chars.join('')) table[char.charCodeAt(0)] = 1
  return table
}
const spaces = ' \t\n\v\f\r'
const isKeyCode = tableOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-')
/** Characters that may precede a key. */
const isBeforeKey = tableOf(spaces, ',;|[({]>":')
const endsBare = tableOf(spaces, '|')
const isKeyAt = (text: string, at: number): boolean => isKeyCode[text.charCodeAt(at)] === 1
const isSpaceBeyondAscii = (code: number): boolean => code >= 0x80 && /\s/.test(String.fromCharCode(code))
const isSpaceAt = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code < 0x80 ? spaces.includes(text.charAt(at)) : isSpaceBeyondAscii(code)
}

const [space, equalSign, open, close, closeSquare] = [0x20, 0x3d, 0x28, 0x29, 0x5d] as const
const [comma, semicolon, colon] = [0x2c, 0x3b, 0x3a] as const
const [doubleQuote, singleQuote, backslash] = [0x22, 0x27, 0x5c] as const
const longestKey = 80

/**
 * Pairs with `=` from `begin` on. It takes the whole line, because V8 reads a character of a substring more slowly. A key is at the start
 * or after a separator; `?a=1&b=2` is the query of a URL.
 */
export const pairsOf = (text: string, begin = 0): readonly Pair[] => {
  const pairs: Pair[] = []
  let from = begin
  for (let sign = text.indexOf('=', from); sign >= 0 && pairs.length < maxPairs; sign = text.indexOf('=', from)) {
    const nameEnd = text.charCodeAt(sign - 1) === close ? beforeNumber(text, sign - 1) : sign
    let start = nameEnd
    while (start > from && isKeyAt(text, start - 1)) start--
    const isKey = start < nameEnd && nameEnd - start <= longestKey
    if (!isKey || !(start === begin || separates(text.charCodeAt(start - 1)))) {
      from = sign + 1
      continue
    }
    const closing = closingQuote(text, sign + 1)
    const end = closing < 0 ? endOfBare(text, sign + 1) : closing + 1
    const value = closing < 0 ? withoutBracket(text.slice(sign + 1, end)) : text.slice(sign + 2, closing)
    const name = text.slice(start, sign)
    // `SrcIPAddr(1003)=…`: the number is not part of the name.
    // `xmlns:soap="http://…"` declares a prefix of XML.
    const isPrefix = text.charCodeAt(start - 1) === colon && text.startsWith('xmlns:', start - 6)
    const key = isPrefix ? 'xmlns' : nameEnd === sign ? name : name.replace(/\(\d+\)$/, '')
    const whose =
      start - from >= shortestOwner && key.length <= longestOwnerless && ownerless.test(key)
        ? owner.exec(text.slice(Math.max(begin, start - 24), start))
        : null
    pairs.push(
      whose
        ? { key: `${(whose[1] ?? '').replace(' ', '_')}_${key}`, value, start: start - whose[0].length, end }
        : { key, value, start, end },
    )
    from = end
  }
  return pairs
}

const separates = (code: number): boolean => (code < 0x80 ? isBeforeKey[code] === 1 : isSpaceBeyondAscii(code))

/** Where the name in `name(1003)=` ends, given its closing bracket; the position after the bracket if there is no opening one. */
const beforeNumber = (text: string, closed: number): number => {
  const bracket = /\([\w-]{1,40}$/.exec(text.slice(Math.max(0, closed - 41), closed))
  return bracket ? closed - bracket[0].length : closed + 1
}

/** The end of a quoted value; -1 if the value is not quoted or never ends. */
const closingQuote = (text: string, start: number): number => {
  const quote = text.charCodeAt(start)
  if (quote !== doubleQuote && quote !== singleQuote) return -1
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash) at++
  }
  return -1
}

/**
 * A comma or semicolon ends a value unless the value goes on right after it (`qr,rd,ra`, a list of addresses).
 * In `relay=mail.example.com. [192.0.2.1]` the name and its address are one value.
 */
const endOfBare = (text: string, start: number): number => {
  let at = start
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x80 ? isSpaceBeyondAscii(code) : endsBare[code] === 1) break
    if ((code === comma || code === semicolon) && endsBehind(text, at + 1)) break
  }
  if (!text.startsWith(' [', at)) return at
  relayAddress.lastIndex = at
  return relayAddress.test(text) ? relayAddress.lastIndex : at
}
const relayAddress = /(?<=relay=\S{1,253}) \[[\da-fA-F.:]{3,45}\]/y

/** Whether a comma just before `start` ends the value: the text ends, or a space or the next key follows. */
const endsBehind = (text: string, start: number): boolean => {
  if (start === text.length) return true
  if (isSpaceAt(text, start)) return true
  let at = start
  while (at - start <= 64 && isKeyAt(text, at)) at++
  if (at === start || at - start > 64) return false
  const next = text.charCodeAt(at)
  return next === equalSign || (next === open && /^\(\d{0,8}\)=/.test(text.slice(at, at + 11)))
}

const withoutBracket = (bare: string): string => (bare.endsWith(')') && !bare.includes('(') ? bare.slice(0, -1) : bare)

/** `Peer IP=192.0.2.1 Server IP=198.51.100.1`, `Device IP Address=192.0.2.254`: the words before the key name the owner. */
const ownerless = /^(?:ip|ipv[46]|addr|address|host|hostname|name|port)$/i
const longestOwnerless = 8
/** Two letters and a blank between the previous pair and this one. */
const shortestOwner = 3
const owner = /(?<![\w=])([A-Za-z]{2,20}(?: IP)?) $/

/**
 * `key:"value"; key:"value"` (Check Point) and `key: value, key: value` (Firepower, nginx errors).
 * A bare value with a colon and a blank inside is a sentence and not a value.
 */
export const colonPairsOf = (text: string, begin = 0): readonly Pair[] => {
  const pairs: Pair[] = []
  let from = begin
  for (let sign = text.indexOf(':', from); sign >= 0 && pairs.length < maxPairs; sign = text.indexOf(':', from)) {
    let start = sign
    while (start > from && isKeyAt(text, start - 1)) start--
    from = sign + 1
    if (start === sign || sign - start > longestKey || !beginsPair(text, start, begin)) continue
    const opening = text.charCodeAt(sign + 1) === colon ? sign + 2 : sign + 1
    const isQuoted = text.charCodeAt(opening) === doubleQuote
    const isBare = text.charCodeAt(sign + 1) === space
    if (!isQuoted && !isBare) continue
    const value = isQuoted ? opening + 1 : sign + 2
    const end = isQuoted ? closingQuote(text, opening) : endOfPhrase(text, value)
    if (end < 0) continue
    const said = text.slice(value, end)
    from = isQuoted ? end + 1 : end
    pairs.push({ key: text.slice(start, sign), value: isQuoted ? said : said.trim(), start, end: from })
  }
  return pairs
}

/** Whether a key with a colon may begin here: at the start, or after a separator and up to eight blanks. A number is no key. */
const beginsPair = (text: string, start: number, begin: number): boolean => {
  const first = text.charCodeAt(start)
  if (first >= 0x30 && first <= 0x39) return false
  let at = start
  while (at > begin && start - at < 10 && isSpaceAt(text, at - 1)) at--
  const blanks = start - at
  const before = at === begin ? comma : text.charCodeAt(at - 1)
  return before === colon ? blanks > 0 && blanks < 10 : blanks < 9 && beginsList.includes(String.fromCharCode(before))
}
const beginsList = ';,[{'

/** The end of a bare value; -1 if it contains a colon and a blank. */
const endOfPhrase = (text: string, start: number): number => {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === semicolon || code === closeSquare) return at
    if (code !== comma && code !== colon) continue
    if (text.charCodeAt(at + 1) === space) return code === comma ? at : -1
  }
  return text.length
}

/** The text between the pairs, joined; a single character between two pairs only separates them. */
export const remainder = (text: string, pairs: readonly Pair[], begin = 0): string => {
  let rest = ''
  let at = begin
  for (const pair of pairs) {
    if (pair.start > at + 1) rest += `${text.slice(at, pair.start)} `
    at = pair.end
  }
  return rest + text.slice(at)
}
