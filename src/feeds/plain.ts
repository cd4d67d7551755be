// Plain lists: one address, range, name or URL a line, and hosts files, with comments behind # or ;.
import type { Parser, Sink } from './feed.js'
import { forEachLine } from './lines.js'
import { spanOfRow } from './span.js'

/** Left-hand sides of a hosts file that mean "nowhere"; a name behind any other address is no accusation. */
const nowhere = new Set(['0.0.0.0', '127.0.0.1', '::', '::1'])
/** Names that every hosts file begins with. */
const ownNames = /^(?:localhost|localhost\.localdomain|local|broadcasthost|ip6-[a-z]+|0\.0\.0\.0|.*\.localhost)$/i
const preamble = /^(?:255\.255\.255\.255|f[ef][0-9a-f]{2}::\S*)$/i

export const withoutComment = (line: string): string => {
  const first = line.charCodeAt(0)
  if (first === 35 || first === 59 || (first === 47 && line.charCodeAt(1) === 47) || first === 33) return ''
  // Behind an entry a comment needs a space before it, for # and ; may stand in a URL.
  const comment = line.search(/\s[#;]/)
  return (comment < 0 ? line : line.slice(0, comment)).trim()
}

const addHosts = (words: readonly string[], number: number, sink: Sink): boolean =>
  words.every((word) => ownNames.test(word) || sink.add(word, number))

export const parsePlain: Parser = (bytes, sink) => {
  forEachLine(bytes, (line, number) => {
    const text = withoutComment(line)
    if (text === '') return true
    if (!/\s/.test(text)) return sink.add(unwrapped(text), number)
    const words = text.slice(0, 8192).split(/\s+/)
    const [first = '', ...names] = words
    if (nowhere.has(first)) return addHosts(names, number, sink)
    if (preamble.test(first) && names.every((name) => ownNames.test(name))) return true
    const span = words.length === 3 && words[1] === '-' ? text : spanOfRow(words)
    return span === undefined ? sink.junk(number) : sink.add(span, number)
  })
  return undefined
}

/** `||bad.example^` of filter lists, and the quotes and commas of lists that were cut out of something else. */
const unwrapped = (text: string): string => {
  const first = text.charCodeAt(0)
  if (first === 124 && text.startsWith('||') && text.endsWith('^')) return text.slice(2, -1)
  if (first !== 34 && first !== 39 && !text.endsWith(',')) return text
  return text.replace(/^["']/, '').replace(/,$/, '').replace(/["']$/, '')
}
