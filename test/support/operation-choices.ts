// The operations that tests use: the default choices with some changes.
import {
  usualAddressChoices,
  usualNameChoices,
  type AddressChoices,
  type NameChoices,
} from '../../src/domain/operation-choice.js'

export const addressChoices = (over: Partial<AddressChoices> = {}): AddressChoices => ({
  ...usualAddressChoices,
  ...over,
})
export const nameChoices = (over: Partial<NameChoices> = {}): NameChoices => ({ ...usualNameChoices, ...over })

/** One call per lookup. */
export const oneCallEach = {
  ip: { operations: addressChoices({ suspicious_info: 'never' }) },
  domain: { maxAgeDays: 90, operations: nameChoices() },
} as const

/** The same as a header of a bulk connection. */
export const oneCallEachHeader = 'ip=malicious-info:always&domain=reports:always&maxAgeDays=365'
