// Members that an annotation adds to an event in the schemas of others: ECS and OCSF.
import type { AnnotatedIndicator, Annotation } from '../../domain/annotation.js'
import type { Level } from '../../domain/finding.js'
import type { Addition } from './addition.js'

const unique = (values: readonly string[]): string[] => [...new Set(values)]

/** threat.enrichments, related.ip, related.hosts and event.risk_score. */
export const layerEcs = (annotation: Annotation): Addition[] => {
  const { indicators } = annotation
  const enrichments = indicators
    .filter(({ verdict }) => verdict === 'malicious' || verdict === 'suspicious')
    .map(({ type, value, field, source }) =>
      JSON.stringify({
        indicator: {
          type: type === 'domain' ? 'domain-name' : value.includes(':') ? 'ipv6-addr' : 'ipv4-addr',
          name: value,
          ...(type === 'ip' ? { ip: value } : { url: { domain: value } }),
          ...(source === undefined ? {} : { provider: source }),
        },
        matched: { atomic: value, field, type: 'threatweave' },
      }),
    )
  const values = (wanted: 'ip' | 'domain'): string[] =>
    unique(indicators.filter(({ type }) => type === wanted).map(({ value }) => JSON.stringify(value)))
  const additions: Addition[] = []
  if (enrichments.length > 0) additions.push({ path: ['threat', 'enrichments'], items: unique(enrichments) })
  const addresses = values('ip')
  const names = values('domain')
  if (addresses.length > 0) additions.push({ path: ['related', 'ip'], items: addresses })
  if (names.length > 0) additions.push({ path: ['related', 'hosts'], items: names })
  if (annotation.score !== undefined)
    additions.push({ path: ['event', 'risk_score'], scalar: String(annotation.score) })
  return additions
}

const reputations: Readonly<Record<Level, { readonly score_id: number; readonly score: string }>> = {
  malicious: { score_id: 10, score: 'Malicious' },
  suspicious: { score_id: 7, score: 'Suspicious/Risky' },
  clean: { score_id: 2, score: 'Safe' },
  unknown: { score_id: 0, score: 'Unknown' },
}

/** OCSF requires a number; a missing score is not invented. */
const reputationOf = ({ verdict, score, source }: AnnotatedIndicator): object | undefined =>
  score === undefined
    ? undefined
    : { base_score: score, ...reputations[verdict], ...(source === undefined ? {} : { provider: source }) }

/** The OCSF members of an annotation: observables with reputation, and osint. */
export const layerOcsf = ({ indicators }: Annotation): Addition[] => {
  const observables: string[] = []
  const osint: string[] = []
  for (const indicator of indicators) {
    const { type, value, field, verdict, source } = indicator
    const reputation = reputationOf(indicator)
    const rated = reputation === undefined ? {} : { reputation }
    const observed = type === 'ip' ? { type_id: 2, type: 'IP Address' } : { type_id: 1, type: 'Hostname' }
    observables.push(JSON.stringify({ name: field, ...observed, value, ...rated }))
    if (verdict === 'unknown') continue
    const known = type === 'ip' ? { type_id: 1, type: 'IP Address' } : { type_id: 2, type: 'Domain' }
    const vendor = source === undefined ? {} : { vendor_name: source }
    osint.push(JSON.stringify({ name: field, ...known, value, labels: [verdict], ...vendor, ...rated }))
  }
  const additions: Addition[] = []
  if (observables.length > 0) additions.push({ path: ['observables'], items: observables })
  if (osint.length > 0) additions.push({ path: ['osint'], items: osint })
  return additions
}
