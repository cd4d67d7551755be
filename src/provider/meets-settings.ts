// Whether an answer that somebody else has obtained is what these settings would have asked for.
import type { Finding } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import { registrableDomain } from '../domain/public-suffix.js'
import { rowToReport, type DomainSettings } from './ask-domain.js'
import { isPlainlyClean, type AddressSettings } from './ask-ip.js'

type AskedFor = {
  readonly ip: AddressSettings
  readonly domain: DomainSettings & { readonly scan?: 'off' | 'private' | 'public' }
}

const dayMs = 86_400_000

export const meetsSettings = (
  { type, value }: Indicator,
  finding: Finding,
  { ip, domain }: AskedFor,
  now: number,
): boolean => {
  const { operations = [] } = finding
  if (type === 'ip') {
    if (finding.status === 'unknown' || !ip.escalate || isPlainlyClean(finding.facts)) return true
    return finding.facts.flags.is_malicious === true || operations.includes('ip/suspicious_info')
  }
  // A name that is scanned where nobody has a report of it has to be asked about here.
  if (domain.scan !== undefined && domain.scan !== 'off') return false
  if (finding.status === 'unknown' || finding.facts.listings || operations.includes('domain/report')) return true
  const recent = (finding.facts.hosts ?? []).filter(
    ({ at }) => at !== undefined && now - at < domain.maxAgeDays * dayMs,
  )
  return rowToReport(recent, registrableDomain(value) ?? value, domain.report) === undefined
}
