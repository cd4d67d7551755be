// Lists of one entry a line: plain lists, netsets and ipsets, hosts and dnsmasq files, block lists with columns.
import { readEntry, spanOfRow } from './entry.js'
import type { Details, Parser } from './feed.js'
import { forEachLine } from './lines.js'

/** What one line lists. */
type Line = { readonly values: readonly string[]; readonly details?: Details; readonly isException?: true }

/** A comment, or what belongs to the format itself. */
const nothing: Line = { values: [] }
const exception: Line = { values: [], isException: true }
const maxLineLength = 8192

/** Left-hand sides of a hosts file that mean "nowhere"; a name behind any other address is no accusation. */
const nowhere = new Set(['0.0.0.0', '127.0.0.1', '::', '::1', '#', ''])
/** Names that every hosts file begins with. */
const ownNames = /^(?:localhost|localhost\.localdomain|local|broadcasthost|ip6-[a-z]+|0\.0\.0\.0|.*\.localhost)$/i
const preamble = /^(?:255\.255\.255\.255|f[ef][0-9a-f]{2}::\S*)$/i

const withoutComment = (line: string): string => {
  if (/^\s*(?:[#;!]|\/\/|\[Adblock)/.test(line)) return ''
  // Behind an entry a comment needs a space before it, for # and ; may stand in a URL.
  const comment = line.search(/\s(?:[#;]|\/\/)/)
  return (comment < 0 ? line : line.slice(0, comment)).trim()
}

/** What a line lists; nothing at all when it holds no entry that can be read. */
export const readLine = (line: string): Line | undefined => {
  const text = withoutComment(line.slice(0, maxLineLength))
  if (text === '') return nothing
  return /\s/.test(text) ? readWords(text, text.split(/\s+/)) : readWord(text)
}

const readWord = (text: string): Line | undefined => {
  const dnsmasq = /^(address|server|local)=\/(.+)\/([^/]*)$/.exec(text)
  if (dnsmasq) return readDnsmasq(dnsmasq)
  const filter = /^\|\|([^/^$]+)\^(?:\$(?:all|document|important|third-party|,)+)?$/.exec(text)
  if (filter) return { values: [filter[1] ?? ''] }
  if (text.startsWith('@@')) return exception
  if (text === 'COMMIT') return nothing
  return /^[0-9a-f.:]+#\d+#\d+#/i.test(text) ? readReputation(text) : { values: [unquoted(text)] }
}

/** A name that is answered with nowhere, or asked of no server; one that is asked of another server is no accusation. */
const readDnsmasq = ([, option, names = '', target = '']: readonly string[]): Line =>
  (option === 'address' ? nowhere.has(target) : target === '') ? { values: names.split('/') } : exception

/** `198.51.100.7#4#2#Scanning Host#…`, AlienVault's reputation list: reliability and risk from 1 to 10, and what was seen. */
const readReputation = (text: string): Line => {
  const [value = '', reliability, , activity = ''] = text.split('#')
  return { values: [value], details: { score: Number(reliability) * 10, categories: activity.split(';') } }
}

const readWords = (text: string, words: readonly string[]): Line | undefined => {
  const [first = '', second = '', third] = words
  if (nowhere.has(first)) return { values: words.slice(1).filter((name) => !ownNames.test(name)) }
  if (preamble.test(first) && words.slice(1).every((name) => ownNames.test(name))) return nothing
  // DShield's header, and what `ipset save` and `iptables-save` write.
  if (/^start\s+end\s+net(?:mask|block)\b/i.test(text)) return nothing
  if (first === 'create' || first === '-N') return nothing
  if (first === 'add' || first === '-A') return third === undefined ? undefined : { values: [third] }
  if (words.length === 3 && second === '-') return { values: [text] }
  const span = spanOfRow(words)
  if (span !== undefined) return { values: [span] }
  if (/^[0-9a-f.:]+#\d+#\d+#/i.test(text)) return readReputation(text)
  return isFollowedByRemarks(words) ? { values: [unquoted(first)] } : undefined
}

/** Behind an address may stand anything but another one or a name; behind a name or a URL, which may begin a sentence, only numbers and dates. */
const isFollowedByRemarks = ([first = '', ...rest]: readonly string[]): boolean => {
  const { kind } = readEntry(unquoted(first))
  if (kind === 'range' || kind === 'span') return rest.every((word) => !isIndicator(word))
  return (
    (kind === 'name' || kind === 'site') && rest.every((word) => /^[\d:.,/TZ+-]+$/.test(word) && !isIndicator(word))
  )
}

const isIndicator = (word: string): boolean => {
  const { kind } = readEntry(word)
  return kind === 'range' || kind === 'span' || kind === 'name' || kind === 'site'
}

/** Lists that were cut out of something else keep its quotes and commas. */
const unquoted = (text: string): string => text.replace(/^["'](.*?)["']?,?$/, '$1').replace(/,$/, '')

export const parseTextList: Parser = (bytes, sink) => {
  forEachLine(bytes, (line, number) => {
    const read = readLine(line)
    if (read?.isException) return sink.skip(number, 'harmless')
    return read ? read.values.every((value) => sink.add(value, number, read.details)) : sink.skip(number)
  })
  return undefined
}
