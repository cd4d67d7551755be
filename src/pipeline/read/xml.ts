// Reads an event that is written as XML: each element that holds a value is a pair, named by itself and what it stands in.
import { readPair, type Reader } from './reader.js'

const maxElements = 1024
const maxDepth = 32
const longestTag = 2048
const opening = /^([A-Za-z_][\w.-]{0,79}(?::[A-Za-z_][\w.-]{0,79})?)/
const attribute = /([A-Za-z_][\w:.-]{0,79})\s?=\s?(?:"([^"]{0,1024})"|'([^']{0,1024})')/g

/** Whether the text is one element, with or without a prologue; what is not well formed is read as far as it goes. */
export const readXml = (reader: Reader, body: string, level: number): boolean => {
  if (body.charCodeAt(0) !== 0x3c || !/^<(?:\?xml|[A-Za-z_])/.test(body)) return false
  if (body.charCodeAt(body.trimEnd().length - 1) !== 0x3e || !body.includes('</')) return false
  const names: string[] = []
  let at = 0
  for (let count = 0; count < maxElements; count++) {
    const open = body.indexOf('<', at)
    if (open < 0) break
    const close = body.indexOf('>', open)
    if (close < 0) break
    at = close + 1
    const code = body.charCodeAt(open + 1)
    if (code === 0x2f) names.pop()
    if (code === 0x2f || code === 0x3f || code === 0x21 || close - open > longestTag) continue
    const tag = body.slice(open + 1, close)
    const name = opening.exec(tag)?.[1]
    if (name === undefined) continue
    const own = name.slice(name.indexOf(':') + 1)
    const called = readAttributes(reader, own, tag.slice(name.length), level) ?? own
    if (tag.endsWith('/')) continue
    const end = body.indexOf('<', at)
    const value = end > at ? body.slice(at, end).trim() : ''
    const around = names.at(-1)
    if (value !== '') readPair(reader, around === undefined ? called : `${around}.${called}`, plain(value), level)
    if (names.length < maxDepth) names.push(called)
  }
  return true
}

/** `<Data Name="IpAddress">`: what the element is called, where an attribute says so. */
const readAttributes = (reader: Reader, tag: string, text: string, level: number): string | undefined => {
  if (!text.includes('=')) return undefined
  let called: string | undefined
  for (const [, name = '', double, single] of text.matchAll(attribute)) {
    const value = double ?? single ?? ''
    if (/^(?:name|key|id)$/i.test(name) && /^[A-Za-z_][\w. -]{0,79}$/.test(value)) called ??= value
    else if (!name.startsWith('xmlns') && !name.startsWith('xsi:'))
      readPair(reader, `${tag}.${name}`, plain(value), level)
  }
  return called
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }
const plain = (value: string): string =>
  value.includes('&') ? value.replace(/&(lt|gt|quot|apos|amp);/g, (all, name: string) => entities[name] ?? all) : value
