// Whether an answer that somebody else obtained is enough for these settings.
import { expect, it } from 'vitest'
import type { Facts, Finding } from '../../../src/domain/finding.js'
import { shippedTable } from '../../../src/domain/judgement-table.js'
import type { AddressChoices, NameChoices } from '../../../src/domain/operation-choice.js'
import { createIsAccused } from '../../../src/provider/is-accused.js'
import { addressChoices, nameChoices } from '../../support/operation-choices.js'
import { meetsSettings } from '../../../src/provider/meets-settings.js'

const now = Date.parse('2026-11-17T12:00:00.000Z')
const found = (facts: Partial<Facts>, ...operations: readonly string[]): Finding => ({
  status: 'known',
  source: 'service',
  at: now,
  operations,
  facts: { flags: {}, categories: [], ...facts },
})
const nothingAt = (operation: string): Finding => ({
  status: 'unknown',
  reason: 'not_found',
  at: now,
  operations: [operation],
})
type Changes = Pick<AddressChoices, 'suspicious_info' | 'vpn'> & Pick<NameChoices, 'report'>
const moderate = {
  hosts: [{ host: 'www.bad.example.com', at: now, scanId: '1', rating: 'moderate', issues: [] }],
} as const
const usual: Changes = { suspicious_info: 'unclean', vpn: 'never', report: 'accused' }

it.each<[string, 'ip' | 'domain', Finding, Partial<Changes>, boolean]>([
  ['a plainly clean address', 'ip', found({ flags: { is_malicious: false } }, 'ip/malicious-info'), {}, true],
  [
    'a malicious one without its scores',
    'ip',
    found({ flags: { is_malicious: true } }, 'ip/malicious-info'),
    {},
    false,
  ],
  [
    'a malicious one without what is asked of accused ones',
    'ip',
    found({ flags: { is_malicious: true } }, 'ip/malicious-info', 'ip/suspicious_info'),
    { vpn: 'accused' },
    false,
  ],
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
    { suspicious_info: 'never' },
    true,
  ],
  ['a doubtful one with its scores', 'ip', found({ idsHits: 2 }, 'ip/malicious-info', 'ip/suspicious_info'), {}, true],
  ['that nothing is known', 'ip', nothingAt('ip/malicious-info'), {}, true],
  ['a suspicious name without its report', 'domain', found(moderate, 'domain/reports'), {}, false],
  ['the same with its report', 'domain', found(moderate, 'domain/reports', 'domain/report'), {}, true],
  ['the same where no report is asked for', 'domain', found(moderate, 'domain/reports'), { report: 'never' }, true],
  ['an unknown name', 'domain', nothingAt('domain/reports'), {}, true],
])('%s', (_, type, finding, changes, isEnough) => {
  const { suspicious_info, vpn, report } = { ...usual, ...changes }
  const settings = {
    ip: { operations: addressChoices({ suspicious_info, vpn }) },
    domain: { maxAgeDays: 30, operations: nameChoices({ report }) },
  }
  const about = { type, value: type === 'ip' ? '203.0.113.7' : 'bad.example.com' }
  expect(
    meetsSettings(
      about,
      finding,
      settings,
      createIsAccused(shippedTable, () => now),
      now,
    ),
  ).toBe(isEnough)
})
