// Whether an answer that is remembered, or that somebody else has obtained, is all that these settings would have asked for.
import type { Finding } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import { isNameComplete, type DomainSettings } from './ask-domain.js'
import { dueAddressOperation, type AddressSettings, type IsAccused } from './ask-ip.js'

type AskedFor = {
  readonly ip: AddressSettings
  readonly domain: DomainSettings & { readonly scan?: 'off' | 'private' | 'public' }
}

export const meetsSettings = (
  { type, value }: Indicator,
  finding: Finding,
  { ip, domain }: AskedFor,
  isAccused: IsAccused,
  now: number,
): boolean => {
  const answered = new Set(finding.operations)
  if (type === 'ip') {
    const facts = finding.status === 'known' ? finding.facts : undefined
    return dueAddressOperation(ip.operations, answered, facts, value, isAccused) === undefined
  }
  // A name that is scanned where nobody has a report of it has to be asked about here.
  if (domain.scan !== undefined && domain.scan !== 'off') return false
  return isNameComplete(finding, value, domain, now)
}
