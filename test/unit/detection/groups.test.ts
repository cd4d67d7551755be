// What the bundled rules take for the same: one alert an hour for it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openDetection } from '../../support/detection.js'
import { folder } from '../../support/feed-files.js'

const raisedBy = async (lines: readonly string[]): Promise<readonly string[]> => {
  const path = join(folder(), 'listed.csv')
  writeFileSync(path, 'value,category\n203.0.113.7,c2\n203.0.113.9,scanner\n')
  const detection = await openDetection([{ name: 'listed', path }])
  onTestFinished(detection.close)
  const { alerts } = await detection.detect(lines)
  return alerts.map(({ rule, indicator, origin }) => `${origin.split('/')[2] ?? ''} ${rule} ${indicator}`)
}

const flow = (from: string, to: string, port: number): string =>
  `2 123456789012 eni-0a1b2c3d ${from} ${to} 50000 ${port} 6 20 4249 1794729600 1794729660 ACCEPT OK`

it('a scanner that reaches several servers is one alert', async () => {
  expect(
    await raisedBy([
      flow('203.0.113.9', '10.0.0.5', 443),
      flow('203.0.113.9', '10.0.0.6', 443),
      flow('203.0.113.9', '10.0.0.5', 8443),
    ]),
  ).toEqual(['0 threatweave_background_inbound_allowed 203.0.113.9'])
})

it('each machine that connects to something malicious has an alert', async () => {
  expect(
    await raisedBy([
      flow('10.0.0.5', '203.0.113.7', 443),
      flow('10.0.0.5', '203.0.113.7', 8443),
      flow('10.0.0.6', '203.0.113.7', 443),
    ]),
  ).toEqual(['0 threatweave_malicious_outbound 203.0.113.7', '2 threatweave_malicious_outbound 203.0.113.7'])
})

it('a suppressed worst match lets no lesser one through', async () => {
  const ssh = flow('203.0.113.7', '10.0.0.5', 22)
  expect(await raisedBy([ssh, ssh, ssh])).toEqual(['0 threatweave_malicious_admin_access 203.0.113.7'])
})

const okta = (user: string): string =>
  JSON.stringify({
    published: '2026-11-15T08:00:00.000Z',
    eventType: 'user.session.start',
    actor: { type: 'User', alternateId: user },
    client: { ipAddress: '203.0.113.9' },
    outcome: { result: 'SUCCESS' },
  })

it('each user who logs in from a listed address has an alert', async () => {
  expect(await raisedBy([okta('ada@example.com'), okta('ben@example.com'), okta('ada@example.com')])).toEqual([
    '0 threatweave_login_from_malicious 203.0.113.9',
    '1 threatweave_login_from_malicious 203.0.113.9',
  ])
})

it('each user of an SSH server has one too', async () => {
  const login = (user: string): string =>
    `Nov 15 08:00:01 web-1 sshd[811]: Accepted password for ${user} from 203.0.113.7 port 40022 ssh2`
  expect(await raisedBy([login('ada'), login('root'), login('ada')])).toEqual([
    '0 threatweave_login_from_malicious 203.0.113.7',
    '1 threatweave_login_from_malicious 203.0.113.7',
  ])
})
