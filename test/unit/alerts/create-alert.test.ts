// An alert stands alone: what happened, between whom, who says so since when, and how often.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { expect, it, onTestFinished } from 'vitest'
import type { Alert } from '../../../src/alerts/alert.js'
import { openTestAlerting } from '../../support/alerting.js'
import { readSchema } from '../../support/annotation-schema.js'
import { ruleText } from '../../support/rules.js'

const validate = new Ajv({ allErrors: true, allowUnionTypes: true, formats: { 'date-time': true } }).compile(
  readSchema('alert'),
)
const malicious = ruleText(
  'sel:\n    threatweave.verdict: malicious\ncondition: sel',
  'level: high\ntags: [attack.command-and-control, attack.t1071.001, attack.g0007, cve.2026-1]\n',
)
const alertsOf = async (
  lines: readonly string[],
  values: Readonly<Record<string, unknown>> = {},
): Promise<readonly Alert[]> => {
  const alerts = await (await openTestAlerting([malicious], values))(lines)
  for (const alert of alerts) {
    validate(JSON.parse(JSON.stringify(alert)))
    expect(validate.errors ?? []).toEqual([])
  }
  return alerts
}

it('tells everything about one match', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-feed-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  const path = join(folder, 'c2.csv')
  writeFileSync(path, 'ip,first_seen,category,score\n203.0.113.99,2026-11-01T00:00:00Z,c2,95\n')
  const line =
    'Nov 15 2026 08:00:05 fw1.example.com : %ASA-6-302013: Built outbound TCP connection 8811 for outside:203.0.113.99/443 (203.0.113.99/443) to inside:10.0.0.31/51022 (192.0.2.1/51022)'
  const [alert] = await alertsOf([line], { feeds: [{ name: 'c2-list', path }] })
  expect(alert).toMatchObject({
    '@timestamp': '2026-11-15T08:00:05.000Z',
    event: { severity: 4, risk_score: 95, original: line },
    rule: { name: 'A rule' },
    threat: {
      framework: 'MITRE ATT&CK',
      tactic: { name: ['command-and-control'] },
      technique: { id: ['T1071'], subtechnique: { id: ['T1071.001'] } },
      indicator: { ip: '203.0.113.99', provider: 'feed:c2-list' },
    },
    source: { ip: '10.0.0.31', port: 51022 },
    destination: { ip: '203.0.113.99', port: 443 },
    observer: { name: 'fw1.example.com' },
    related: { ip: ['203.0.113.99', '10.0.0.31'] },
    threatweave: {
      level: 'high',
      origin: 'firewall/0/0',
      enrichment_id: 'firewall/0/0',
      count: 1,
      peer: '10.0.0.31',
      direction: 'outbound',
      action: 'allowed',
      categories: ['c2'],
      feed: 'c2-list',
      entry: '203.0.113.99',
      listed_since: '2026-11-01T00:00:00.000Z',
      list_time: expect.any(String) as string,
    },
  })
})

it('holds a log line that is harmless wherever it is shown, and not longer than 2,048 characters', async () => {
  const evil = `src=203.0.113.99 dst=10.0.0.5 note="\u001b[2J\u202egpj.exe\u2028\ttab" x=${'y'.repeat(3000)}`
  const [alert] = await alertsOf([evil])
  expect(alert?.event.original).toMatch(/^src=203\.0\.113\.99 dst=10\.0\.0\.5 note="�\[2J�gpj\.exe� tab" x=y+…$/)
  expect(alert?.event.original).toHaveLength(2049)
})

/** One match of each line within one hour. */
const peersOf = async (lines: readonly string[]): Promise<(string | undefined)[]> =>
  (await alertsOf(lines)).map(({ threatweave }) => threatweave.peer)

it.each([
  ['addresses', ['src=10.0.0.1 dst=203.0.113.99', 'src=10.0.0.2 dst=203.0.113.99'], ['10.0.0.1', '10.0.0.2']],
  [
    'public addresses',
    ['src=192.0.2.1 dst=203.0.113.99', 'src=192.0.2.2 dst=203.0.113.99'],
    ['192.0.2.1', '192.0.2.2'],
  ],
  [
    'names',
    ['shost=a.corp.example dst=203.0.113.99', 'shost=b.corp.example dst=203.0.113.99'],
    ['a.corp.example', 'b.corp.example'],
  ],
  [
    'hosts without an address',
    ['WS-1', 'WS-2'].map((name) =>
      JSON.stringify({ host: { name }, dns: { question: { name: 'c2.botnet.example.org' } } }),
    ),
    ['WS-1', 'WS-2'],
  ],
  [
    'destinations of one attacker',
    ['src=203.0.113.99 dst=10.0.0.1', 'src=203.0.113.99 dst=10.0.0.2'],
    ['10.0.0.1', '10.0.0.2'],
  ],
  [
    'addresses behind many others',
    [1, 2].map(
      (n) =>
        `src=10.0.0.${n} dst=203.0.113.99 msg="${Array.from({ length: 30 }, (_, i) => `198.51.100.${i}`).join(' ')}"`,
    ),
    ['10.0.0.1', '10.0.0.2'],
  ],
])('is raised for each of two machines that differ in %s', async (_, lines, peers) => {
  expect(await peersOf([...lines, ...lines])).toEqual(peers)
})

it('names the other machines that matched since the last one', async () => {
  const at = (hour: number, host: number): string =>
    `date=2026-11-15 time=${String(hour).padStart(2, '0')}:00:00 src=10.0.0.${host} dst=203.0.113.99`
  const alerts = await alertsOf([at(8, 1), at(8, 2), at(8, 2), at(8, 3), at(9, 1), at(11, 2), at(11, 1)])
  expect(alerts.map(({ threatweave: { peer, count, peers } }) => [peer, count, peers ?? []])).toEqual([
    ['10.0.0.1', 1, []],
    ['10.0.0.2', 1, ['10.0.0.1']],
    ['10.0.0.3', 1, ['10.0.0.1', '10.0.0.2']],
    ['10.0.0.1', 1, ['10.0.0.2', '10.0.0.3']],
    ['10.0.0.2', 2, ['10.0.0.3', '10.0.0.1']],
    ['10.0.0.1', 1, ['10.0.0.2']],
  ])
})

it('names at most sixteen of them, and counts the others of the last sixty-four', async () => {
  const alerts = await alertsOf(Array.from({ length: 100 }, (_, n) => `src=10.0.0.${n} dst=203.0.113.99`))
  const last = alerts.at(-1)?.threatweave
  expect([last?.peers?.length, last?.peers?.at(-1), last?.peers_omitted]).toEqual([16, '10.0.0.98', 47])
})
