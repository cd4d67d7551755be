// An alert as text for people: what `tail` prints of it.
import { expect, it } from 'vitest'
import { renderAlert } from '../../../src/alerts/render-alert.js'

const alert = {
  '@timestamp': '2026-11-19T10:00:04.000Z',
  rule: { id: 'r', name: 'Login from Malicious Address', ruleset: 'threatweave' },
  event: {
    kind: 'alert',
    category: ['threat'],
    type: ['indicator'],
    dataset: 'threatweave.alerts',
    id: 'a',
    severity: 4,
    original: `Accepted password for root from 203.0.113.66 port 51234 ${'x'.repeat(200)}`,
  },
  threatweave: {
    level: 'high',
    summary: '203.0.113.66 is malicious: listed in list as 203.0.113.66',
    origin: 'your.log:4',
    count: 3,
    value: '203.0.113.66',
    peer: 'root',
    role: 'source',
    action: 'allowed',
    activity: 'login',
    password_accepted: true,
    peers: ['admin', 'backup'],
    peers_omitted: 2,
    late: true,
  },
} as const

it('says when, how bad, which rule, why, who talked to whom, how often, and where the event is', () => {
  expect(renderAlert(alert, { columns: 60 }).split('\n')).toEqual([
    '2026-11-19 10:00:04 UTC  HIGH  Login from Malicious Address (late)',
    '  because   203.0.113.66 is malicious: listed in list as',
    '            203.0.113.66',
    '  traffic   203.0.113.66 → root (allowed, login, password',
    '            accepted)',
    '  hosts     admin, backup and 2 more',
    '  do        ask whose login it was; if it was not theirs,',
    '            end the sessions and reset the password',
    '  matches   3',
    '  event     your.log:4',
    '            Accepted password for root from 203.0.113.66 po…',
    '',
    '',
  ])
})

it('lets no part of an event steer the terminal', () => {
  const hostile = { ...alert, event: { ...alert.event, original: 'a\u001b[2Jb' } }
  expect(renderAlert(hostile)).toContain('            a?[2Jb\n')
  expect(renderAlert(hostile)).not.toContain('\u001b')
})

it('lets no level or time of an alert that somebody else wrote steer the terminal', () => {
  const evil = '\u001b[2J'
  const hostile = {
    ...alert,
    '@timestamp': `${evil}2026`,
    threatweave: { ...alert.threatweave, level: `high${evil}` as 'high' },
  }
  const plain = renderAlert(hostile)
  expect(plain).toMatch(/^\?\[2J2026 UTC {2}HIGH\?\[2J {2}Login/)
  expect(plain).not.toContain('\u001b')
  expect(renderAlert(hostile, { isColoured: true })).toContain('\u001b[36mHIGH?[2J\u001b[0m')
})

it('breaks a sentence after a word that is longer than a line', () => {
  const name = `${'x'.repeat(60)}.example.net`
  const summary = `${name} is malicious: listed in list as 203.0.113.66, category c2`
  const shown = renderAlert({ ...alert, threatweave: { ...alert.threatweave, summary } }, { columns: 60 })
  expect(shown.split('\n').slice(1, 4)).toEqual([
    `  because   ${name}`,
    '            is malicious: listed in list as 203.0.113.66,',
    '            category c2',
  ])
})

it('colours the level and nothing that the event says', () => {
  expect(renderAlert(alert, { isColoured: true })).toContain('\u001b[31mHIGH\u001b[0m  \u001b[1mLogin')
})
