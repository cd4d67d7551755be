// Modifiers that rewrite a value before it is compared: dash variants, UTF-16 and Base64.
import type { Scalar, Wrong } from './scalar.js'

export const encodings = ['windash', 'wide', 'utf16le', 'utf16be', 'base64', 'base64offset'] as const
export type Encoding = (typeof encodings)[number]

/** Characters that Windows programs accept as the dash of an option. */
const dashes = ['-', '/', '\u2013', '\u2014', '\u2015']
/** Every dash multiplies the number of values by five. */
const maxDashes = 4

/** The encoded forms of one value; modifiers apply in their order. */
export const encodeValue = (value: Scalar, names: readonly Encoding[]): readonly Scalar[] | Wrong => {
  let values: readonly string[] = [String(value)]
  if (names.length === 0) return [value]
  if (typeof value !== 'string') return { wrong: `${names[0] ?? ''} takes text` }
  for (const name of names) {
    const encoded = values.map(encoders[name])
    const bad = encoded.find((one) => 'wrong' in one)
    if (bad && 'wrong' in bad) return bad
    values = (encoded as (readonly string[])[]).flat()
  }
  return values
}

const encoders: Record<Encoding, (text: string) => readonly string[] | Wrong> = {
  windash: (text) => {
    const [first = '', ...rest] = text.split(/\B[-/]\b/)
    if (rest.length > maxDashes) return { wrong: `windash takes values of at most ${maxDashes} dashes` }
    return rest.reduce<string[]>(
      (begun, part) => begun.flatMap((one) => dashes.map((dash) => one + dash + part)),
      [first],
    )
  },
  wide: (text) => twoBytes(text, '$&\0'),
  utf16le: (text) => twoBytes(text, '$&\0'),
  utf16be: (text) => twoBytes(text, '\0$&'),
  base64: (text) => {
    const plain = withoutEscapes(text)
    return plain === undefined ? wildcard : [Buffer.from(plain).toString('base64')]
  },
  base64offset: (text) => {
    const plain = withoutEscapes(text)
    if (plain === undefined) return wildcard
    return [0, 1, 2].map((offset) => {
      const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(plain)])
      // Only the characters that do not depend on the bytes before or after.
      const from = Math.ceil((offset * 8) / 6)
      return bytes.toString('base64').slice(from, Math.floor((bytes.length * 8) / 6))
    })
  },
}

/** Wildcards get no padding byte, and an escaped character gets one with its backslash. */
const twoBytes = (text: string, each: string): readonly string[] | Wrong =>
  /[^\0-\x7f]/.test(text) ? { wrong: 'UTF-16 takes ASCII text' } : [text.replace(/\\[*?\\]|[^*?]/g, each)]

const wildcard: Wrong = { wrong: 'a value with wildcards has no Base64 form' }

/** Undefined if the text has wildcards. */
const withoutEscapes = (text: string): string | undefined => {
  const plain = text.replace(/\\([*?\\])/g, '\u{f0000}$1')
  if (/(?<!\u{f0000})[*?]/u.test(plain)) return undefined
  return plain.replaceAll('\u{f0000}', '')
}
