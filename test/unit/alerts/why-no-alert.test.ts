// Why no rule fires for an accused event.
import { describe, expect, it } from 'vitest'
import { whyNoAlert } from '../../../src/alerts/why-no-alert.js'
import { createFields } from '../../../src/alerts/sigma/fields.js'
import { parseRules } from '../../../src/alerts/sigma/parse-rules.js'
import { createRuleSet } from '../../../src/alerts/sigma/rule-set.js'
import type { Annotation } from '../../../src/domain/annotation.js'
import { annotation, ruleText } from '../../support/rules.js'
import { judgedOf } from '../../support/judged-events.js'

const detection = `selection:
    threatweave.verdict: malicious
    threatweave.action: allowed
filter_lab:
    src_ip|cidr: 10.9.0.0/16
condition: selection and not filter_lab`

const why = (candidates: readonly Partial<Annotation>[], event: object = {}) => {
  const fields = createFields('threatweave')
  const { rules } = parseRules('rule.yml', ruleText(detection), { fields })
  const full = candidates.map((one) => annotation({ verdict: 'malicious', ...one }))
  const found = whyNoAlert(full, [], createRuleSet(rules, fields), () => ({ object: event as Record<string, unknown> }))
  return found && [found.reason, ...(found.rule ? [found.rule.title] : [])]
}

describe('no rule fires', () => {
  it.each<[reason: string, about: Partial<Annotation>]>([
    ['blocked_inbound', { direction: 'inbound', action: 'blocked', threat_class: 'serious' }],
    ['blocked_inbound', { direction: 'external', action: 'blocked', verdict: 'suspicious' }],
    ['failed_login', { direction: 'unknown', action: 'blocked', activity: 'login' }],
    ['background_unknown_action', { direction: 'inbound', action: 'unknown', threat_class: 'background' }],
    ['background_unknown_action', { direction: 'unknown', action: 'unknown', threat_class: 'uncategorized' }],
    ['only_suspicious', { direction: 'inbound', action: 'allowed', verdict: 'suspicious' }],
    ['no_rule', { direction: 'inbound', action: 'unknown', threat_class: 'serious' }],
    ['no_rule', { direction: 'outbound', action: 'blocked', threat_class: 'serious' }],
  ])('because of %s', (reason, about) => expect(why([about])).toEqual([reason]))

  it('because a filter of a rule excludes it, and names the rule', () => {
    const inbound = { direction: 'inbound', action: 'allowed', threat_class: 'serious' } as const
    expect(why([inbound], { src_ip: '10.9.0.1' })).toEqual(['rule_filtered', 'A rule'])
  })

  it('because of its worst indicator, unless no rule covers one of the others', () => {
    const blocked = { direction: 'inbound', action: 'blocked' } as const
    expect(why([blocked, { ...blocked, verdict: 'suspicious' }])).toEqual(['blocked_inbound'])
    const gap = { direction: 'unknown', action: 'unknown', threat_class: 'serious' } as const
    expect(why([{ ...gap, threat_class: 'background' }, gap])).toEqual(['no_rule'])
  })

  it('because what a feed lists is safeguarded', () => {
    const judged = [judgedOf({ value: 'example.net', role: 'query', flags: { safeguarded: true } })]
    const rules = { excludedBy: () => undefined }
    expect(whyNoAlert([annotation()], judged, rules, () => ({ object: {} }))).toEqual({ reason: 'safeguarded' })
  })

  it('because the address was only looked up in reverse', () => {
    const asked = judgedOf({ value: '203.0.113.7', role: 'query' })
    const judged = [{ ...asked, verdict: { ...asked.verdict, level: 'unknown', reason: 'reverse_lookup' } as const }]
    const rules = { excludedBy: () => undefined }
    expect(whyNoAlert([annotation()], judged, rules, () => ({ object: {} }))).toEqual({ reason: 'reverse_lookup' })
  })

  it('and there is nothing to say, where nothing is accused', () => {
    expect(why([{ verdict: 'clean' }])).toBeUndefined()
  })
})
