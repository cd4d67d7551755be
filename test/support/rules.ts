// Short rules and annotated events for tests.
import type { Annotation } from '../../src/domain/annotation.js'
import { createFields } from '../../src/alerts/sigma/fields.js'
import { parseRules } from '../../src/alerts/sigma/parse-rules.js'
import { createRuleSet, type RuleMatch } from '../../src/alerts/sigma/rule-set.js'

type ParsedRules = ReturnType<typeof parseRules>

export const ruleText = (detection: string, more = ''): string =>
  `title: A rule\nid: 11111111-2222-4333-8444-555555555555\nlogsource:\n    category: firewall\n${more}detection:\n${detection.replace(/^/gm, '    ')}\n`

export const annotation = (more: Partial<Annotation> = {}): Annotation => ({
  schema_version: 1,
  status: 'complete',
  verdict: 'unknown',
  direction: 'unknown',
  action: 'unknown',
  activity: 'other',
  summary: 'nothing to say',
  indicators: [],
  ...more,
})

export const parse = (detection: string, stated?: ReadonlySet<string>): ParsedRules =>
  parseRules('rule.yml', ruleText(detection), { fields: createFields('threatweave'), stated })

/** Matches an event against a rule with this detection; throws if the detection is invalid. */
export const matching = (
  detection: string,
  event: Readonly<Record<string, unknown>>,
  about: Partial<Annotation> = {},
): readonly RuleMatch[] => {
  const fields = createFields('threatweave')
  const { rules, problems } = parseRules('rule.yml', ruleText(detection), { fields })
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('; '))
  return createRuleSet(rules, fields).match([annotation(about)], () => ({ object: event }))
}
