// Reads CEF and LEEF: a header between bars, then an extension of key=value pairs.
import { readByRule, readLater, readPair, type Reader } from './reader.js'
import { wordsOf } from './name-words.js'

const maxPairs = 512
const longestLabel = 128
const longestName = 512
const quad = /(?:\d{1,3}\.){3}\d/

/** The text after the bars, with what the header says about the action; undefined where it is neither. */
export const readCef = (reader: Reader, text: string, field: string, level: number): boolean => {
  const start = startOf(text)
  if (start < 0) return false
  const isLeef = text.startsWith('LEEF:', start)
  const isLeef2 = text.startsWith('LEEF:2', start)
  const { fields, end } = header(text, start, isLeef ? (isLeef2 ? 6 : 5) : 7)
  const name = fields[isLeef ? 4 : 5]
  const pairs = isLeef ? leefPairs(text.slice(end), isLeef2 ? fields[5] : undefined) : cefPairs(text.slice(end))
  const labels = labelsOf(pairs)
  for (const [key, value] of pairs) {
    if (key.endsWith('Label')) continue
    const label = labels.get(key)
    if (label === undefined) readPair(reader, key, value, level)
    else readByRule(reader, reader.ruleOf(wordsOf(label).join('_')), key, value, level)
  }
  if (name !== undefined) {
    reader.action.seeText(name.replace(/[_-]/g, ' '))
    // `User alice logged in from 192.0.2.1`; names of threats have dots too, so only what has an address.
    if (name.length < longestName && name.includes('.') && quad.test(name)) readLater(reader, name, field)
  }
  return true
}

const startOf = (text: string): number => {
  if (!text.includes('CEF:') && !text.includes('LEEF:')) return -1
  const limit = text.length > 600 ? text.slice(0, 600) : text
  return limit.search(/\b(?:CEF:\s?\d|LEEF:\d)/)
}

/** `count` fields that bars end; `\|` is a bar that does not. */
const header = (text: string, start: number, count: number): { fields: string[]; end: number } => {
  const fields: string[] = []
  let from = start
  let at = start
  for (; at < text.length && fields.length < count; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x5c) at++
    else if (code === 0x7c) {
      fields.push(text.slice(from, at))
      from = at + 1
    }
  }
  return { fields, end: from }
}

type Pairs = (readonly [key: string, value: string])[]

/** A value goes on until the next ` key=`; `\=` is a sign that is part of it. */
const cefPairs = (text: string): Pairs => {
  const pairs: Pairs = []
  const sign = /(?:^|[\s|])([A-Za-z0-9_.[\]-]{1,80})=/g
  let key: string | undefined
  let from = 0
  for (let match = sign.exec(text); match && pairs.length < maxPairs; match = sign.exec(text)) {
    if (key !== undefined) pairs.push([key, plain(text.slice(from, match.index))])
    key = match[1] ?? ''
    from = sign.lastIndex
    sign.lastIndex = Math.max(from, from)
  }
  if (key !== undefined) pairs.push([key, plain(text.slice(from))])
  return pairs
}

const plain = (value: string): string => value.trim().replace(/\\([\\=|])/g, '$1')

const leefPairs = (text: string, delimiter: string | undefined): Pairs => {
  const between = separatorOf(delimiter, text)
  const pairs: Pairs = []
  for (const part of text.split(between, maxPairs)) {
    const sign = part.indexOf('=')
    if (sign > 0) pairs.push([part.slice(0, sign).trim(), part.slice(sign + 1).trim()])
  }
  return pairs
}

const separatorOf = (delimiter: string | undefined, text: string): string | RegExp => {
  if (delimiter !== undefined && delimiter !== '') {
    const code = /^(?:0?x)([0-9a-f]{2,4})$/i.exec(delimiter)
    return code ? String.fromCharCode(Number.parseInt(code[1] ?? '', 16)) : delimiter
  }
  if (text.includes('\t')) return '\t'
  return text.includes('\\t') ? '\\t' : /\s(?=[A-Za-z0-9_.-]{1,80}=)/
}

const labelsOf = (pairs: Pairs): ReadonlyMap<string, string> => {
  const labels = new Map<string, string>()
  for (const [key, value] of pairs)
    if (key.endsWith('Label') && value.length <= longestLabel) labels.set(key.slice(0, -5), value)
  return labels
}
