// Takes a field's name apart into the words it is made of.
import { joinedWords } from './field-words.js'

/** `srcIPAddress_v4` → src ip address v4; `dstip` → dst ip; `sourceIPs` → source ips. */
export const wordsOf = (name: string): string[] => {
  const parts = name
    .replace(/IPv(?=[46])/g, 'Ipv')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z](?!s(?![a-z]))[a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== '')
  const result = parts.flatMap(splitJoined)
  return result.length === 0 ? [''] : result
}

const splitJoined = (part: string): string[] => {
  if (part.length > 40) return [part]
  const found: string[] = []
  let at = 0
  while (at < part.length) {
    const word = joinedWords.find((candidate) => part.startsWith(candidate, at))
    if (word === undefined) {
      // A plural or a number may end it (`dstips`, `ip1`); anything else makes it one word of its own.
      if (found.length > 0 && /^(s|es|\d+|v[46])$/.test(part.slice(at))) return found
      return [part]
    }
    found.push(word)
    at += word.length
  }
  return found
}
