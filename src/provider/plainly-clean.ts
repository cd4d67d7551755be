// Checks whether facts about an address are clean without contradiction, so that further operations are unnecessary.
import { ratings, type Facts, type Rating } from '../domain/finding.js'

export const isPlainlyClean = ({
  flags,
  categories,
  inbound,
  outbound,
  idsHits = 0,
  scanningRecords = 0,
}: Facts): boolean =>
  (flags.is_malicious === false || (flags.is_malicious === undefined && (inbound ?? outbound) !== undefined)) &&
  categories.length === 0 &&
  idsHits === 0 &&
  scanningRecords === 0 &&
  isLow(inbound) &&
  isLow(outbound)

const isLow = (rating: Rating | undefined): boolean =>
  rating === undefined || ratings.indexOf(rating) < ratings.indexOf('moderate')
