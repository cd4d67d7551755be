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
