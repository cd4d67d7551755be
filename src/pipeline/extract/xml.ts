// Reads an event written as XML: each element that holds a value is a pair, named by the element and its parents.
import { readPair, type Reader } from './reader.js'

const maxElements = 1024
const maxDepth = 32
const longestTag = 2048
const opening = /^(?:[A-Za-z_][\w.-]{0,79}:)?([A-Za-z_][\w.-]{0,79})/
const attribute = /([A-Za-z_][\w:.-]{0,79})\s?=\s?(?:"([^"]{0,1024})"|'([^']{0,1024})')/g
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }
const plain = (value: string): string =>
  value.replace(/&(lt|gt|quot|apos|amp);/g, (all, name: string) => entities[name] ?? all)

/** Whether the text is one element, with or without a prologue; malformed text is read as far as possible. */
export const readXml = (reader: Reader, body: string, level: number): boolean => {
  if (body.charCodeAt(0) !== 0x3c || !/^<(?:\?xml|[A-Za-z_])/.test(body)) return false
  if (!body.trimEnd().endsWith('>') || !body.includes('</')) return false
  const names: string[] = []
  let at = 0
  for (let count = 0; count < maxElements; count++) {
    const open = body.indexOf('<', at)
    const close = open < 0 ? -1 : body.indexOf('>', open)
    if (close < 0) break
    at = close + 1
    const tag = close - open > longestTag ? '' : body.slice(open + 1, close)
    if (tag.startsWith('/')) names.pop()
    const match = opening.exec(tag)
    if (!match) continue
    const name = readAttributes(reader, match[1] ?? '', tag.slice(match[0].length), level)
    if (tag.endsWith('/')) continue
    const value = body.slice(at, Math.max(at, body.indexOf('<', at))).trim()
    const around = names.at(-1)
    if (value !== '') readPair(reader, around === undefined ? name : `${around}.${name}`, plain(value), level)
    if (names.length < maxDepth) names.push(name)
  }
  return true
}

/** `<Data Name="IpAddress">`: the name of the element, from an attribute or else from its tag. */
const readAttributes = (reader: Reader, tag: string, text: string, level: number): string => {
  let called: string | undefined
  for (const [, name = '', double, single] of text.matchAll(attribute)) {
    const value = double ?? single ?? ''
    if (/^(?:name|key|id)$/i.test(name) && /^[A-Za-z_][\w. -]{0,79}$/.test(value)) called ??= value
    else if (!/^(?:xmlns|xsi:)/.test(name)) readPair(reader, `${tag}.${name}`, plain(value), level)
  }
  return called ?? tag
}
