// Checks whether a remembered or shared finding covers all operations that the settings call for.
import type { Finding } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import { isNameComplete, type DomainSettings } from './ask-domain.js'
import { dueAddressOperation, type AddressSettings, type IsAccused } from './ask-ip.js'

type AskedFor = { readonly ip: AddressSettings; readonly domain: DomainSettings }

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
  return isNameComplete(finding, value, domain, now)
}
