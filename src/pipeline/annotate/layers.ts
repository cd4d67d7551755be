// Members that an annotation adds to an event in other schemas: ECS and OCSF.
import type { AnnotatedIndicator, AnnotatedType, Annotation } from '../../domain/annotation.js'
import { threatIndicator } from '../../domain/ecs-indicator.js'
import { hostOf } from '../../domain/listed-url.js'
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
        indicator: threatIndicator(type, value, source),
        matched: { atomic: hostOf(type, value), field, type: 'threatweave' },
      }),
    )
  const values = (isWanted: (type: AnnotatedType) => boolean): string[] =>
    unique(
      indicators.filter(({ type }) => isWanted(type)).map(({ type, value }) => JSON.stringify(hostOf(type, value))),
    )
  const additions: Addition[] = []
  if (enrichments.length > 0) additions.push({ path: ['threat', 'enrichments'], items: unique(enrichments) })
  const addresses = values((type) => type === 'ip')
  const names = values((type) => type !== 'ip')
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

const hostname = { type_id: 1, type: 'Hostname' }
/** The types of the observed value and of the intelligence about it. */
const ocsfTypes = {
  ip: { observed: { type_id: 2, type: 'IP Address' }, known: { type_id: 1, type: 'IP Address' } },
  domain: { observed: hostname, known: { type_id: 2, type: 'Domain' } },
  url: { observed: hostname, known: { type_id: 5, type: 'URL' } },
} as const

/** The OCSF members of an annotation: observables with reputation, and osint. */
export const layerOcsf = ({ indicators }: Annotation): Addition[] => {
  const observables: string[] = []
  const osint: string[] = []
  for (const indicator of indicators) {
    const { type, value, field, verdict, source } = indicator
    const reputation = reputationOf(indicator)
    const rated = reputation === undefined ? {} : { reputation }
    const { observed, known } = ocsfTypes[type]
    observables.push(JSON.stringify({ name: field, ...observed, value: hostOf(type, value), ...rated }))
    if (verdict === 'unknown') continue
    const vendor = source === undefined ? {} : { vendor_name: source }
    osint.push(JSON.stringify({ name: field, ...known, value, labels: [verdict], ...vendor, ...rated }))
  }
  const additions: Addition[] = []
  if (observables.length > 0) additions.push({ path: ['observables'], items: observables })
  if (osint.length > 0) additions.push({ path: ['osint'], items: osint })
  return additions
}
