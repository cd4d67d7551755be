// Parses the modifiers of a field: `field|contains|all`.
import { encodings, type Encoding } from './encode-values.js'
import type { Affix } from './pattern.js'
import type { RegexFlags } from './regex.js'

export type Comparison = 'gt' | 'gte' | 'lt' | 'lte'

export type Modifiers = {
  readonly how:
    | { readonly by: 'text'; readonly affix?: Affix }
    | { readonly by: 're'; readonly flags: RegexFlags }
    | { readonly by: 'fieldref'; readonly affix?: Affix }
    | { readonly by: 'cidr' }
    | { readonly by: 'exists' }
    | { readonly by: 'number'; readonly comparison: Comparison }
  /** Encodings applied to the values before they are compared, in this order. */
  readonly encode: readonly Encoding[]
  readonly all: boolean
  readonly cased: boolean
  /** The field has a value, and it is none of these. */
  readonly neq: boolean
}

const affixes = ['contains', 'startswith', 'endswith'] as const
const comparisons = ['gt', 'gte', 'lt', 'lte'] as const
const regexFlags = ['i', 'm', 's'] as const
const kinds = ['re', 'cidr', 'exists', 'fieldref'] as const
const supported = [...affixes, 'all', ...kinds, ...regexFlags, ...comparisons, 'neq', 'cased', ...encodings]

const among = <Name extends string>(names: readonly string[], list: readonly Name[]): Name[] =>
  list.filter((name) => names.includes(name))

/** The modifiers, or what is wrong with them. */
export const readModifiers = (names: readonly string[]): Modifiers | { readonly wrong: string } => {
  const foreign = names.find((name) => !supported.includes(name))
  if (foreign !== undefined)
    return {
      wrong: `the modifier ${JSON.stringify(foreign)} is not supported; these are: ${supported.join(', ')}`,
    }
  if (new Set(names).size < names.length) return { wrong: 'a modifier is given twice' }
  const [affix, ...moreAffixes] = among(names, affixes)
  const [comparison, ...moreComparisons] = among(names, comparisons)
  const [kind, ...moreKinds] = among(names, kinds)
  const given = among(names, regexFlags)
  const cased = names.includes('cased')
  const all = names.includes('all')
  const neq = names.includes('neq')
  const encode = names.flatMap((name) => among([name], encodings))
  const clash = { wrong: `the modifiers ${names.join(', ')} cannot be combined` }
  if (moreAffixes.length + moreComparisons.length + moreKinds.length > 0) return clash
  if (given.length > 0 && kind !== 're') return { wrong: `${given.join(', ')} can only follow re` }
  if (encode.length > 0 && (kind !== undefined || comparison !== undefined)) return clash
  if (neq && names.some((name) => name !== 'neq' && name !== 'cased')) return clash
  const alone = affix === undefined && !cased
  if (comparison !== undefined)
    return kind === undefined && alone && !all ? { how: { by: 'number', comparison }, encode, all, cased, neq } : clash
  if (kind === 're') {
    const [i, m, s] = regexFlags.map((flag) => given.includes(flag)) as [boolean, boolean, boolean]
    return alone ? { how: { by: 're', flags: { i, m, s } }, encode, all, cased, neq } : clash
  }
  if (kind === 'cidr') return alone ? { how: { by: 'cidr' }, encode, all, cased, neq } : clash
  if (kind === 'exists') return alone && !all ? { how: { by: 'exists' }, encode, all, cased, neq } : clash
  return { how: { by: kind ?? 'text', ...(affix && { affix }) }, encode, all, cased, neq }
}
