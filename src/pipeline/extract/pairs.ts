// Takes key=value and key:"value" pairs out of a line, whatever separates them.

export type Pair = { readonly key: string; readonly value: string; readonly start: number; readonly end: number }

const maxPairs = 1024

/**
 * A key is at the start or behind what separates pairs; `?a=1&b=2` is the query of a URL. Commas and semicolons end a value unless it goes on right
 * behind them (`qr,rd,ra`, a list of addresses). `relay=mail.example.com. [192.0.2.1]`: the name and its address are one value.
 */
const equalSign =
  /(?<![^\s,;|[({\]>":])([\w.-]{1,80}(?:\([\w-]{1,40}\))?)=(?:"([^"\\]*(?:\\.[^"\\]*)*)"|'([^'\\]*(?:\\.[^'\\]*)*)'|((?:[^\s|,;]|[,;](?!\s|$|[\w.-]{1,64}(?:\(\d{0,8}\))?=))*(?:(?<=relay=\S{1,253}) \[[\da-fA-F.:]{3,45}\])?))/gs
/** `key:"value"; key:"value"` (Check Point) and `key: value, key: value` (Firepower, nginx errors); what names something within is a sentence, and no value. */
const colon =
  /(?<![^\s;,[{:])(?=[A-Za-z_.-])(?<=(?:^|[;,[{]|:\s)\s{0,8})([\w.-]{1,80}):(?::?"([^"\\]*(?:\\.[^"\\]*)*)"| ((?:(?!: )[^;\],]|,(?! ))*)(?=[;\]]|, |$))/gs

/** Pairs with `=`. */
export const pairsOf = (text: string): readonly Pair[] => {
  const pairs: Pair[] = []
  if (!text.includes('=')) return pairs
  for (const found of text.matchAll(equalSign)) {
    const [all, name = '', double, single, bare = ''] = found
    const value = double ?? single ?? (bare.endsWith(')') && !bare.includes('(') ? bare.slice(0, -1) : bare)
    // `SrcIPAddr(1003)=…`: its number is no part of the name.
    const key = name.endsWith(')') ? name.replace(/\(\d+\)$/, '') : name
    // `Peer IP=192.0.2.1 Server IP=198.51.100.1`, `Device IP Address=192.0.2.254`: the words before say whose it is.
    const whose = ownerless.test(key) ? owner.exec(text.slice(Math.max(0, found.index - 24), found.index)) : null
    const start = found.index - (whose?.[0].length ?? 0)
    pairs.push({
      key: whose ? `${(whose[1] ?? '').replace(' ', '_')}_${key}` : key,
      value,
      start,
      end: found.index + all.length,
    })
    if (pairs.length === maxPairs) break
  }
  return pairs
}

const ownerless = /^(?:ip|ipv[46]|addr|address|host|hostname|name|port)$/i
const owner = /(?<![\w=])([A-Za-z]{2,20}(?: IP)?) $/

export const colonPairsOf = (text: string): readonly Pair[] => {
  const pairs: Pair[] = []
  if (!/:[ "][^]*:[ "]/.test(text)) return pairs
  for (const { 0: all, 1: key = '', 2: quoted, 3: bare = '', index } of text.matchAll(colon)) {
    pairs.push({ key, value: quoted ?? bare.trim(), start: index, end: index + all.length })
    if (pairs.length === maxPairs) break
  }
  return pairs
}

/** What is between the pairs, as one text. */
export const remainder = (text: string, pairs: readonly Pair[]): string => {
  let rest = ''
  let at = 0
  for (const pair of pairs) {
    if (pair.start > at) rest += `${text.slice(at, pair.start)} `
    at = pair.end
  }
  return rest + text.slice(at)
}
