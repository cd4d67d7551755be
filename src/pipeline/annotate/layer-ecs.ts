// The ECS members of an annotation: threat.enrichments, related.ip, related.hosts and event.risk_score.
import type { Annotation } from '../../domain/annotation.js'
import type { Addition } from './addition.js'

const unique = (values: readonly string[]): string[] => [...new Set(values)]

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
