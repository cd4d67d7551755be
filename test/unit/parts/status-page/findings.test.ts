// What the status page says of malicious events without an alert.
import { expect, it } from 'vitest'
import { findingNodes } from '../../../../src/parts/status-page/content/findings.js'
import { toHtml } from '../../../../src/parts/status-page/markup/node.js'
import { createRecentActivity } from '../../../../src/parts/status-page/state/recent-activity.js'
import { seen } from '../../../support/ops.js'

const shown = (
  values: readonly string[],
  alerted: readonly string[],
  reasons: Readonly<Record<string, number>>,
): string => {
  const recent = createRecentActivity(() => 0)
  for (const value of values) recent.see(seen({ value }).annotation)
  const without = Object.entries(reasons).map(([reason, value]) => ({ labels: { reason }, value }))
  return findingNodes(recent.findings(), (value) => alerted.includes(value), without)
    .map(toHtml)
    .join('')
}

it('lists the indicators that have no row among the alerts, and why events raised none', () => {
  const html = shown(['192.0.2.1', '192.0.2.2'], ['192.0.2.1'], { suppressed: 1585, blocked_inbound: 700, no_rule: 0 })
  expect(html).toContain(
    'Not alerted: 1 more malicious indicator, 2285 malicious or suspicious events without an alert of their own',
  )
  expect(html).toContain('history?value=192.0.2.2')
  expect(html).not.toContain('history?value=192.0.2.1')
  expect(html).toContain('<td>blocked inbound</td><td>the inbound connection was blocked</td><td>700</td>')
  expect(html).not.toContain('no rule</td>')
})

it('says nothing where everything malicious has an alert', () => {
  expect(shown(['192.0.2.1'], ['192.0.2.1'], { suppressed: 0 })).toBe('')
})
