// Explains why an entry of gate.allow has no effect: its indicator is never looked up, so there is nothing to allow.
import { parseRange, type AddressRange, type Words } from '../domain/address.js'
import type { GateOptions } from '../domain/decision.js'
import { isInternalName } from '../domain/internal-names.js'
import { publicSuffix } from '../domain/public-suffix.js'
import { isDocumentationRange, specialRanges } from '../domain/special-ranges.js'
import type { Listed } from './list-file.js'

type Rules = Pick<GateOptions, 'internalSuffixes' | 'publicSuffixes' | 'deny'> & {
  /** The ranges of gate.ownRanges and gate.deny. */
  readonly own: readonly AddressRange[]
}

const advice = 'name the listed address or host, not the machine of yours that talked to it'

/** Documentation addresses are accepted: they are examples, and gate.documentation allows looking them up. */
const special = specialRanges
  .filter((range) => !isDocumentationRange(range))
  .flatMap(({ range, name }) => {
    const parsed = parseRange(range)
    return parsed ? [{ range: parsed, name }] : []
  })

export const whyWithoutEffect = ({ internalSuffixes, publicSuffixes, deny, own }: Rules) => {
  const ofRange = (range: AddressRange): string | undefined => {
    const found = special.find((each) => isWithin(range, each.range))
    if (found) return `is never looked up (${found.name}), so this entry has no effect: ${advice}`
    return own.some((each) => isWithin(range, each))
      ? 'is in gate.ownRanges or gate.deny and never looked up, so this entry has no effect'
      : undefined
  }

  const ofName = (name: string): string | undefined => {
    if (deny.names.has(name)) return 'is in gate.deny and never looked up, so this entry has no effect'
    const isInternal = isInternalName(name) || internalSuffixes.has(name) || !publicSuffix(name).isListed
    return isInternal && !publicSuffixes.has(name)
      ? `is an internal name and never looked up, so this entry has no effect: ${advice}`
      : undefined
  }

  return ({ ranges: [range], names: [entry] }: Listed): string | undefined =>
    range ? ofRange(range) : entry && ofName(entry.name)
}

const isWithin = (range: AddressRange, outer: AddressRange): boolean => {
  if (range.version === 4) return outer.version === 4 && outer.first <= range.first && range.last <= outer.last
  return outer.version === 6 && compare(outer.first, range.first) <= 0 && compare(range.last, outer.last) <= 0
}

const compare = (a: Words, b: Words): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3]
