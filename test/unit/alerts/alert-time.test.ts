// When an alert says that its event happened, and who wrote it: what the annotated event says as well.
import { expect, it } from 'vitest'
import { openTestAlerting } from '../../support/alerting.js'
import { ruleText } from '../../support/rules.js'

const malicious = ruleText('sel:\n    threatweave.verdict: malicious\ncondition: sel', 'level: high\n')

const tell = async (line: string) => {
  let written = ''
  const [alert] = await (
    await openTestAlerting([malicious])
  )([line], ([event]) => (written = event?.bytes().toString() ?? ''))
  const { '@timestamp': time } = JSON.parse(written) as { readonly '@timestamp': string }
  expect(alert?.['@timestamp']).toBe(time)
  return { time, observer: alert?.observer?.name }
}

const flow = 'srcip=10.0.0.31 dstip=203.0.113.99 dstport=443 action="accept"'

it.each([
  ['a zone in a field', `date=2026-11-15 time=10:00:01 tz="+0200" ${flow}`, '2026-11-15T08:00:01.000Z'],
  ['no year', `<134>Nov 15 08:00:01 fw1 ${flow}`, '2026-11-15T08:00:01.000Z'],
  ['the day first', `15/11/2026 08:00:01 ${flow}`, '2026-11-15T08:00:01.000Z'],
  ['nanoseconds', `eventtime=1794729601000000000 ${flow}`, '2026-11-15T08:00:01.000Z'],
  ['no time, so that its record tells it', flow, '2026-11-15T12:00:00.000Z'],
  [
    'a column that a format names',
    '2 123456789010 eni-1235b8ca123456789 10.0.0.31 203.0.113.99 51234 443 6 20 4249 1794729601 1794729661 ACCEPT OK',
    '2026-11-15T08:00:01.000Z',
  ],
])('has the time of the annotated event: %s', async (_, line, expected) => {
  expect((await tell(line)).time).toBe(expected)
})

it.each([
  ['what the device calls itself', `<189>date=2026-11-15 time=08:00:01 devname="edge-fw-1" ${flow}`, 'edge-fw-1'],
  ['not the relay in the header', `<189>Nov 15 08:00:01 relay1 devname="edge-fw-1" ${flow}`, 'edge-fw-1'],
  ['the host in the header', `<189>Nov 15 08:00:01 fw1 ${flow}`, 'fw1'],
  ['no action', '2026-11-15 08:00:01 ALLOW TCP 10.0.0.31 203.0.113.99 50000 443 0 - 0 0 0 - - - SEND', undefined],
  ['no log level', `2026-11-15 08:00:01 [WARN] ${flow}`, undefined],
])('names as observer %s', async (_, line, expected) => {
  expect((await tell(line)).observer).toBe(expected)
})
