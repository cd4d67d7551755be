// The candidates of an event: rules are evaluated once per accused or flagged indicator, as if it had decided the annotation.
import type { AnnotatedIndicator, Annotation, AnnotationSummary } from '../domain/annotation.js'
import { levels } from '../domain/finding.js'
import type { Flag } from '../domain/flag.js'
import { roles } from '../domain/sighting.js'
import { placeOfClass } from '../domain/threat-class.js'

/** The annotation as if this indicator had decided. */
export type Candidate = Readonly<Annotation>

/** Worst first, whatever their order in the event: the deciding indicator, and `others`, which are also accused or flagged. */
export const candidatesOf = (
  annotation: Readonly<Annotation>,
  others: readonly AnnotationSummary[],
): readonly Candidate[] =>
  others.length === 0
    ? [annotation]
    : [annotation, ...others.map((other) => deciding(annotation, other))].toSorted(worstFirst)

/** The candidates of a written annotation, by its list of indicators. */
export const writtenCandidates = (annotation: Readonly<Annotation>): readonly Candidate[] => {
  const { indicators, value, field, role } = annotation as Partial<Annotation>
  const others = (Array.isArray(indicators) ? indicators : []).filter(
    (one) => isCandidate(one) && !(one.value === value && one.field === field && one.role === role),
  )
  return candidatesOf(
    annotation,
    others.map((one) => flatOf(annotation, one)),
  )
}

/** Members that do not concern the deciding indicator stay. */
const deciding = (annotation: Readonly<Annotation>, other: AnnotationSummary): Candidate => {
  const { enrichment_id, replay_id, replaced, forged, indicators, indicators_omitted } = annotation
  return {
    ...other,
    ...(replaced !== undefined && { replaced }),
    ...(forged !== undefined && { forged }),
    ...(enrichment_id !== undefined && { enrichment_id }),
    ...(replay_id !== undefined && { replay_id }),
    indicators,
    ...(indicators_omitted !== undefined && { indicators_omitted }),
  }
}

const isCandidate = (one: unknown): one is AnnotatedIndicator => {
  if (typeof one !== 'object' || one === null) return false
  const { verdict, flags } = one as Partial<AnnotatedIndicator>
  return verdict === 'malicious' || verdict === 'suspicious' || (Array.isArray(flags) && flags.length > 0)
}

const flatOf = (annotation: Readonly<Annotation>, one: AnnotatedIndicator): AnnotationSummary => {
  const { schema_version, status, direction, action, activity, password_accepted, truncated, read_as, format } =
    annotation
  const { flags = [], decision: _, at, ...members } = one
  const { verdict } = members
  return {
    schema_version,
    status,
    ...members,
    direction,
    action,
    ...(activity !== undefined && { activity }),
    ...(password_accepted !== undefined && { password_accepted }),
    summary: `${one.value} is ${verdict}`,
    ...(verdict === 'malicious' ? { malicious: true } : verdict === 'clean' && { malicious: false }),
    ...(Object.fromEntries(flags.map((flag) => [flag, true])) as { readonly [flag in Flag]?: true }),
    ...(at !== undefined && { verdict_time: at }),
    ...(truncated !== undefined && { truncated }),
    ...(read_as !== undefined && { read_as }),
    ...(format !== undefined && { format }),
  }
}

const worstFirst = (one: Candidate, other: Candidate): number =>
  levels.indexOf(one.verdict) - levels.indexOf(other.verdict) ||
  placeOfClass(one.threat_class) - placeOfClass(other.threat_class) ||
  (other.score ?? -1) - (one.score ?? -1) ||
  placeOf(one) - placeOf(other) ||
  byText(one.value, other.value) ||
  byText(one.field, other.field)

const placeOf = ({ role }: Candidate): number => (role === undefined ? roles.length : roles.indexOf(role))
const byText = (one = '', other = ''): number => (one < other ? -1 : one > other ? 1 : 0)
