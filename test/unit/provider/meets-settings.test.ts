// Whether an answer that somebody else obtained is enough for these settings.
import { expect, it } from 'vitest'
import type { Facts, Finding } from '../../../src/domain/finding.js'
import { meetsSettings } from '../../../src/provider/meets-settings.js'

const now = Date.parse('2026-11-17T12:00:00.000Z')
const found = (facts: Partial<Facts>, ...operations: readonly string[]): Finding => ({
  status: 'known',
  source: 'service',
  at: now,
  operations,
  facts: { flags: {}, categories: [], ...facts },
})
const nothing: Finding = { status: 'unknown', reason: 'not_found', at: now, operations: [] }
const moderate = {
  hosts: [{ host: 'www.bad.example.com', at: now, scanId: '1', rating: 'moderate', issues: [] }],
} as const
const usual = { escalate: true, report: 'suspicious', scan: 'off' } as const

it.each<[string, 'ip' | 'domain', Finding, Partial<Record<'escalate' | 'report' | 'scan', unknown>>, boolean]>([
  ['a plainly clean address', 'ip', found({ flags: { is_malicious: false } }, 'ip/malicious-info'), {}, true],
  ['a malicious one without its scores', 'ip', found({ flags: { is_malicious: true } }, 'ip/malicious-info'), {}, true],
  [
    'a doubtful one without its scores',
    'ip',
    found({ flags: { is_malicious: false }, idsHits: 2 }, 'ip/malicious-info'),
    {},
    false,
  ],
  [
    'a doubtful one where no scores are asked for',
    'ip',
    found({ idsHits: 2 }, 'ip/malicious-info'),
    { escalate: false },
    true,
  ],
  ['a doubtful one with its scores', 'ip', found({ idsHits: 2 }, 'ip/malicious-info', 'ip/suspicious_info'), {}, true],
  ['that nothing is known', 'ip', nothing, {}, true],
  ['a suspicious name without its report', 'domain', found(moderate, 'domain/reports'), {}, false],
  ['the same with its report', 'domain', found(moderate, 'domain/reports', 'domain/report'), {}, true],
  ['the same where no report is asked for', 'domain', found(moderate, 'domain/reports'), { report: 'never' }, true],
  ['an unknown name', 'domain', nothing, {}, true],
  ['an unknown name that would be scanned', 'domain', nothing, { scan: 'private' }, false],
])('%s', (_, type, finding, changes, isEnough) => {
  const { escalate, report, scan } = { ...usual, ...changes } as typeof usual
  const settings = { ip: { escalate }, domain: { maxAgeDays: 30, report, scan } }
  expect(
    meetsSettings({ type, value: type === 'ip' ? '203.0.113.7' : 'bad.example.com' }, finding, settings, now),
  ).toBe(isEnough)
})
