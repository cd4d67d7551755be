// A set of rules, indexed by the annotation members they require.
import type { AnnotationSummary } from '../../domain/annotation.js'
import { isFlag } from '../annotation-fields.js'
import type { Candidate } from '../candidates.js'
import { explainMatch, holdsUnfiltered, needsOf, type Witness } from './expression.js'
import type { RuleEvent } from '../event-field.js'
import type { EventView } from './expression.js'
import type { Fields, Subject } from './fields.js'
import type { Rule } from './rule.js'

export type RuleMatch = {
  readonly rule: Rule
  /** The annotation as if the matched indicator had decided. */
  readonly candidate: Candidate
  /** The fields that matched, computed on demand. */
  readonly why: () => Witness[]
}

export type RuleSet = {
  readonly size: number
  readonly rules: readonly Rule[]
  /** Whether a rule may match an event whose annotation has these members. */
  readonly mayMatch: (summary: Readonly<AnnotationSummary>) => boolean
  /** The rules that hold for each candidate. `event` is called only if a rule may match. */
  readonly match: (candidates: readonly Candidate[], event: () => RuleEvent) => readonly RuleMatch[]
  /** The rule that would fire for the candidate without its filters. */
  readonly excludedBy: (candidate: Candidate, event: () => RuleEvent) => Rule | undefined
  /** The names to read in the text of every event; undefined if the annotation selects the events to evaluate. */
  readonly names: ReadonlySet<string> | undefined
  /** Whether an event or its annotation has a field. */
  readonly has: (field: string, subject: Subject) => boolean
}

const none: readonly RuleMatch[] = []

export const createRuleSet = (rules: readonly Rule[], fields: Fields): RuleSet => {
  const always: Rule[] = []
  const indexes = new Map<string, Map<string, Rule[]>>()
  for (const rule of rules) {
    const [need] = [...needsOf(rule.expression)].toSorted(([a, x], [b, y]) => commonness(a, x) - commonness(b, y))
    if (!need) {
      always.push(rule)
      continue
    }
    const [member, values] = need
    const index = indexes.get(member) ?? new Map<string, Rule[]>()
    indexes.set(member, index)
    for (const value of values) index.set(value, [...(index.get(value) ?? []), rule])
  }
  const indexed = [...indexes].map(([member, index]) => ({
    member: member as keyof AnnotationSummary,
    isTrue: index.get('true'),
    isFalse: index.get('false'),
    index,
  }))

  const find = (annotation: Readonly<AnnotationSummary>): readonly Rule[] => {
    let found: readonly Rule[] = always
    for (const { member, index, isTrue, isFalse } of indexed) {
      const value = annotation[member]
      const some =
        value === true ? isTrue : value === false ? isFalse : typeof value === 'string' ? index.get(value) : undefined
      if (some) found = found.length === 0 ? some : [...found, ...some]
    }
    return found
  }

  /** The events of an indicator share its summary, so the rules that may match are found once per summary. */
  const known = new WeakMap<Readonly<AnnotationSummary>, readonly Rule[]>()
  const possible = (annotation: Readonly<AnnotationSummary>): readonly Rule[] => {
    let found = known.get(annotation)
    if (found === undefined) known.set(annotation, (found = find(annotation)))
    return found
  }

  return {
    size: rules.length,
    rules,
    names: always.length > 0 ? fields.names() : undefined,
    mayMatch: (summary) => possible(summary).length > 0,
    has: (field, subject) => fields.view(subject).read(fields.slotOf(field)) !== undefined,
    excludedBy: (candidate, event) => {
      const rules = find(candidate)
      if (rules.length === 0) return undefined
      const view = fields.views(event)(candidate)
      return rules.find(({ expression }) => holdsUnfiltered(expression, view))
    },
    match: (candidates, event) => {
      let matches: RuleMatch[] | undefined
      let viewOf: ((candidate: Candidate) => EventView) | undefined
      for (const candidate of candidates) {
        const rules = find(candidate)
        if (rules.length === 0) continue
        const view = (viewOf ??= fields.views(event))(candidate)
        for (const rule of rules)
          if (rule.holds(view))
            (matches ??= []).push({ rule, candidate, why: () => explainMatch(rule.expression, view) })
      }
      return matches ?? none
    },
  }
}

/** Rough frequency of events with these values: the rarest makes the best index. */
const commonness = (member: string, values: ReadonlySet<string>): number => {
  const isAccusing = !values.has('false') && !values.has('clean') && !values.has('unknown')
  if (isFlag(member)) return isAccusing ? 0 : 9
  if (member === 'verdict' || member === 'malicious') return isAccusing ? 1 : 8
  return member === 'truncated' || member === 'stale' ? 2 : 5 + values.size / 10
}
