// Which parser reads a file: the one that was named, or the one its first bytes and its name suggest.
import { parseCsv } from './csv.js'
import type { FeedFormat, FeedSettings, ParseProblem, Parser } from './feed.js'
import { readJson } from './json-text.js'
import { looksLikeMisp, parseMisp } from './misp.js'
import { parseNetset } from './netset.js'
import { parsePlain } from './plain.js'
import { looksLikeStix, parseStix } from './stix.js'

const parsers: Readonly<Record<Exclude<FeedFormat, 'auto'>, Parser>> = {
  plain: parsePlain,
  netset: parseNetset,
  csv: parseCsv,
  stix: parseStix,
  misp: parseMisp,
}

export const parserOf = (bytes: Buffer, path: string, feed: FeedSettings): { parser: Parser } | ParseProblem => {
  if (feed.format !== 'auto') return { parser: parsers[feed.format] }
  const start = bytes
    .toString('utf8', 0, 512)
    .replace(/^\ufeff/, '')
    .trimStart()
  // A list may begin with `[2001:db8::1]:443`, JSON not.
  if (/^(?:\{|\[\s*[{\]])/.test(start)) return parserOfJson(bytes)
  const name = path.toLowerCase().replace(/\.gz$/, '')
  if (/\.(?:netset|ipset)$/.test(name)) return { parser: parseNetset }
  if (name.endsWith('.csv') || feed.columns.value !== undefined) return { parser: parseCsv }
  return { parser: parsePlain }
}

const parserOfJson = (bytes: Buffer): { parser: Parser } | ParseProblem => {
  const json = readJson(bytes)
  if (!json.ok) return json.problem
  if (looksLikeStix(json.value)) return { parser: parseStix }
  if (looksLikeMisp(json.value)) return { parser: parseMisp }
  return { place: 1, message: 'is JSON, but neither a STIX bundle nor a MISP event' }
}
