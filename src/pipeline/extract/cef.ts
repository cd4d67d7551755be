// Reads CEF and LEEF: a header between bars, then an extension of key=value pairs.
import { wordsOf } from './field.js'
import { readLater, readPair, readValue, type Reader } from './reader.js'

const maxPairs = 512
const longestLabel = 128
const longestName = 512

/** Returns whether the text is CEF or LEEF. The name in its header may tell the action. */
export const readCef = (reader: Reader, text: string, field: string, level: number): boolean => {
  if (!text.includes('CEF:') && !text.includes('LEEF:')) return false
  const start = (text.length > 600 ? text.slice(0, 600) : text).search(/\b(?:CEF:\s?\d|LEEF:\d)/)
  if (start < 0) return false
  const isLeef = text.startsWith('LEEF:', start)
  const isLeef2 = text.startsWith('LEEF:2', start)
  const { fields, end } = header(text, start, isLeef ? (isLeef2 ? 6 : 5) : 7)
  const extension = text.slice(end)
  const pairs = isLeef ? leefPairs(extension, isLeef2 ? fields[5] : undefined) : cefPairs(extension)
  const labels = new Map<string, string>()
  for (const [key, value] of pairs)
    if (key.endsWith('Label') && value.length <= longestLabel) labels.set(key.slice(0, -5), value)
  for (const [key, value] of pairs) {
    const label = labels.get(key)
    if (label !== undefined) {
      reader.note(key, value)
      reader.note(label, value)
      readValue(reader, reader.fieldOf(wordsOf(label).join('_')), key, value, level)
    } else if (!key.endsWith('Label')) readPair(reader, key, value, level)
  }
  const name = fields[isLeef ? 4 : 5] ?? ''
  reader.action.seeText(name.replace(/[_-]/g, ' '))
  // `User alice logged in from 192.0.2.1`: names of threats have dots too, so only a name with an address is read.
  if (name.length < longestName && /(?:\d{1,3}\.){3}\d/.test(name)) readLater(reader, name, field)
  return true
}

/** Reads `count` fields, each ended by a bar; the escaped `\|` does not end one. */
const header = (text: string, start: number, count: number): { fields: string[]; end: number } => {
  const found = [...text.slice(start).matchAll(/((?:[^|\\]|\\.)*)\|/gsy)].slice(0, count)
  const end = start + found.reduce((sum, [all]) => sum + all.length, 0)
  return { fields: found.map(([, field = '']) => field), end }
}

type Pairs = (readonly [key: string, value: string])[]

/** A value runs to the next ` key=`; the escaped `\=` is part of the value. */
const cefPairs = (text: string): Pairs => {
  const signs = [...text.matchAll(/(?:^|[\s|])([A-Za-z0-9_.[\]-]{1,80})=/g)].slice(0, maxPairs)
  return signs.map((sign, at) => {
    const value = text.slice(sign.index + sign[0].length, signs[at + 1]?.index).trim()
    return [sign[1] ?? '', value.replace(/\\([\\=|])/g, '$1')]
  })
}

/** LEEF 1 separates pairs with tabs; LEEF 2 names its separator in the header. */
const leefPairs = (text: string, delimiter = ''): Pairs => {
  const pairs: Pairs = []
  // A relay may have replaced the tab with `#011` or a blank.
  if (delimiter === '' && !text.includes('\t'))
    return text.includes('#011') ? leefPairs(text.replaceAll('#011', '\t')) : cefPairs(text)
  const code = /^0?x([0-9a-f]{2,4})$/i.exec(delimiter)?.[1]
  const separator = code === undefined ? delimiter || '\t' : String.fromCharCode(Number.parseInt(code, 16))
  for (const part of text.split(separator, maxPairs)) {
    const sign = part.indexOf('=')
    if (sign > 0) pairs.push([part.slice(0, sign).trim(), part.slice(sign + 1).trim()])
  }
  return pairs
}
