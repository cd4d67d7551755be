// Which operations a test asks: the usual ones, with some of them chosen otherwise.
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

/** One call each. */
export const oneCallEach = {
  ip: { operations: addressChoices({ suspicious_info: 'never' }) },
  domain: { maxAgeDays: 90, operations: nameChoices() },
} as const

/** The same as the header of a bulk connection. */
export const oneCallEachHeader = 'ip=malicious-info:always&domain=reports:always&maxAgeDays=365'
