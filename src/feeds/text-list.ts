// Lists with one entry per line: plain lists, netsets and ipsets, hosts and dnsmasq files, block lists with columns.
import { readEntry, spanOfRow } from './entry.js'
import type { Details, Parser } from './feed.js'
import { forEachLine } from './lines.js'

/** The entries on one line. */
type Line = { readonly values: readonly string[]; readonly details?: Details; readonly isException?: true }

/** A comment, or syntax of the format itself. */
const nothing: Line = { values: [] }
const exception: Line = { values: [], isException: true }
const maxLineLength = 8192

/** Addresses in a hosts file that mean "nowhere"; a name mapped to any other address is not an accusation. */
const nowhere = new Set(['0.0.0.0', '127.0.0.1', '::', '::1', '#', ''])
/** Names at the start of every hosts file. */
const ownNames = /^(?:localhost|localhost\.localdomain|local|broadcasthost|ip6-[a-z]+|0\.0\.0\.0|.*\.localhost)$/i
const preamble = /^(?:255\.255\.255\.255|f[ef][0-9a-f]{2}::\S*)$/i

const withoutComment = (line: string): string => {
  if (/^\s*(?:[#;!]|\/\/|\[Adblock)/.test(line)) return ''
  // After an entry a comment needs a space before it, because # and ; may be part of a URL.
  const comment = line.search(/\s(?:[#;]|\/\/)/)
  return (comment < 0 ? line : line.slice(0, comment)).trim()
}

/** The entries on a line; undefined if it has none that can be read. */
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

/** A name answered with a null address, or forwarded to no server, is listed; a name forwarded to a server is not an accusation. */
const readDnsmasq = ([, option, names = '', target = '']: readonly string[]): Line =>
  (option === 'address' ? nowhere.has(target) : target === '') ? { values: names.split('/') } : exception

/** `198.51.100.7#4#2#Scanning Host#…` of AlienVault's reputation list: reliability and risk from 1 to 10, and the activity. */
const readReputation = (text: string): Line => {
  const [value = '', reliability, , activity = ''] = text.split('#')
  return { values: [value], details: { score: Number(reliability) * 10, categories: activity.split(';') } }
}

const readWords = (text: string, words: readonly string[]): Line | undefined => {
  const [first = '', second = '', third] = words
  if (nowhere.has(first)) return { values: words.slice(1).filter((name) => !ownNames.test(name)) }
  if (preamble.test(first) && words.slice(1).every((name) => ownNames.test(name))) return nothing
  // The header of DShield, and the output of `ipset save` and `iptables-save`.
  if (/^start\s+end\s+net(?:mask|block)\b/i.test(text)) return nothing
  if (first === 'create' || first === '-N') return nothing
  if (first === 'add' || first === '-A') return third === undefined ? undefined : { values: [third] }
  if (words.length === 3 && second === '-') return { values: [text] }
  const span = spanOfRow(words)
  if (span !== undefined) return { values: [span] }
  if (/^[0-9a-f.:]+#\d+#\d+#/i.test(text)) return readReputation(text)
  return isFollowedByRemarks(words) ? { values: [unquoted(first)] } : undefined
}

/**
 * After an address any text may follow except another address or a name. A name or URL may begin a sentence, so only numbers and dates may
 * follow it.
 */
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

/** Lists cut out of other files keep their quotes and commas. */
const unquoted = (text: string): string => text.replace(/^["'](.*?)["']?,?$/, '$1').replace(/,$/, '')

export const parseTextList: Parser = (bytes, sink) => {
  forEachLine(bytes, (line, number) => {
    const read = readLine(line)
    if (read?.isException) return sink.skip(number, 'harmless')
    return read ? read.values.every((value) => sink.add(value, number, read.details)) : sink.skip(number)
  })
  return undefined
}
