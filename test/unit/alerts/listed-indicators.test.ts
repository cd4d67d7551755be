// Alerts about entries narrower than an indicator, as somebody sees them who runs `pipe` with such a list.
import { describe, expect, it } from 'vitest'
import type { Alert } from '../../../src/alerts/alert.js'
import { openTestAlerting } from '../../support/alerting.js'
import { feedFile } from '../../support/feed-files.js'

type Feed = { readonly list: string; readonly level?: string; readonly categories?: readonly string[] }

/** Lists by name; with the bundled rules and the bundled safeguard. */
const alertsOf = async (feeds: Readonly<Record<string, Feed>>, ...lines: string[]): Promise<readonly Alert[]> => {
  const alerting = await openTestAlerting([], {
    feeds: Object.entries(feeds).map(([name, { list, ...more }]) => ({ name, path: feedFile(list), ...more })),
    alerts: { bundled: true },
  })
  return alerting(lines)
}
const flow = (from: string, to: string, port: number): string =>
  `date=2026-11-15 time=08:30:05 devname="gw" type="traffic" subtype="forward" srcip=${from} srcport=50122 dstip=${to} dstport=${port} proto=6 action="accept"`
const visit = (url: string): string =>
  JSON.stringify({ 'url.full': url, 'source.ip': '10.0.0.5', 'event.category': 'web', 'event.action': 'allowed' })

const c2 = { list: '203.0.113.200:443', categories: ['botnet_cc'] }
const evil = 'https://raw.githubusercontent.com/evil/tools/main/x.sh'

describe('a list of servers with their ports', () => {
  it('raises a high alert for the listed port, which the alert names', async () => {
    const [alert, ...others] = await alertsOf({ c2 }, flow('10.0.0.5', '203.0.113.200', 443))
    expect(others).toEqual([])
    expect(alert?.threatweave).toMatchObject({
      level: 'high',
      type: 'ip',
      value: '203.0.113.200',
      entry: '203.0.113.200:443',
      threat_class: 'serious',
    })
  })

  it('raises no high alert for another port of it', async () => {
    const alerts = await alertsOf({ c2 }, flow('10.0.0.5', '203.0.113.200', 22))
    expect(alerts.map(({ threatweave: { level, verdict } }) => [level, verdict])).toEqual([['low', 'suspicious']])
  })
})

describe('a listed URL on a host that everybody uses', () => {
  it('is what the alert is about, not the host', async () => {
    const [alert] = await alertsOf({ urlhaus: { list: evil, categories: ['malware_download'] } }, visit(`${evil}?id=7`))
    expect(alert?.threatweave).toMatchObject({ type: 'url', value: evil, verdict: 'malicious', peer: '10.0.0.5' })
    expect(alert?.threat?.indicator).toEqual({
      type: 'url',
      name: evil,
      url: { original: evil, domain: 'raw.githubusercontent.com' },
      provider: 'feed:urlhaus',
    })
    expect(alert?.threat_match_value).toBe(evil)
    expect(alert?.related).toEqual({ ip: ['10.0.0.5'], hosts: ['raw.githubusercontent.com'] })
    expect(alert?.message).toContain(`${evil} is malicious: listed in urlhaus`)
  })

  it('is one group of alerts, whatever stands behind it', async () => {
    const urls = ['', '?id=7', '/more', '#top'].map((more) => visit(evil + more))
    const alerts = await alertsOf({ urlhaus: { list: evil } }, ...urls)
    expect(alerts.map(({ threatweave: { count } }) => count)).toEqual([1])
  })

  it('accuses nobody who visits something else there', async () => {
    const other = visit('https://raw.githubusercontent.com/good/tools/main/x.sh')
    expect(await alertsOf({ urlhaus: { list: evil } }, other)).toEqual([])
  })
})

describe('an indicator that several lists have', () => {
  it('is told with each of them, and with class and categories of the worst entry', async () => {
    const [alert] = await alertsOf(
      {
        noise: { list: '203.0.113.0/24', level: 'suspicious', categories: ['scanner'] },
        whole: { list: 'value,category,score,first_seen\n203.0.113.200,spam,90,2026-10-01\n' },
        c2,
      },
      flow('10.0.0.5', '203.0.113.200', 443),
    )
    expect(alert?.threatweave).toMatchObject({ feed: 'c2', categories: ['botnet_cc'], threat_class: 'serious' })
    expect(alert?.threatweave.listings).toEqual([
      { feed: 'c2', entry: '203.0.113.200:443', level: 'malicious', categories: ['botnet_cc'] },
      {
        feed: 'whole',
        entry: '203.0.113.200',
        level: 'malicious',
        score: 90,
        categories: ['spam'],
        since: '2026-10-01T00:00:00.000Z',
      },
      { feed: 'noise', entry: '203.0.113.0/24', level: 'suspicious', categories: ['scanner'] },
    ])
  })

  it('names eight of them at most', async () => {
    const lists = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [`list-${String(n).padStart(2, '0')}`, { list: '203.0.113.200' }]),
    )
    const [alert] = await alertsOf(lists, flow('10.0.0.5', '203.0.113.200', 443))
    expect(alert?.threatweave.listings?.map(({ feed }) => feed)).toEqual(Object.keys(lists).slice(0, 8))
  })
})
