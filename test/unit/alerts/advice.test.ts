// The advice of an alert: one next step for each kind of accusation.
import { describe, expect, it } from 'vitest'
import { adviceFor } from '../../../src/alerts/advice.js'

const value = '203.0.113.7'
const peer = '10.0.0.5'

describe('the advice of an alert', () => {
  it.each([
    [
      { role: 'destination', direction: 'outbound', action: 'allowed' },
      'find the program on 10.0.0.5 that asks for it; block 203.0.113.7',
    ],
    [
      { role: 'query', direction: 'unknown', action: 'unknown' },
      'find the program on 10.0.0.5 that asks for it; block 203.0.113.7',
    ],
    [
      { role: 'destination', direction: 'outbound', action: 'blocked' },
      'find the program on 10.0.0.5 that asks for it',
    ],
    [{ role: 'source', direction: 'inbound', action: 'allowed' }, 'find what it did on 10.0.0.5; block 203.0.113.7'],
    [
      { role: 'answer', direction: 'unknown', action: 'unknown' },
      'find which machine asked for the name, and whether it connected to 203.0.113.7',
    ],
    [
      { role: 'mail', direction: 'inbound', action: 'blocked' },
      'find who received the mail, and whether somebody opened a link',
    ],
    [
      { role: 'source', activity: 'login', action: 'allowed' },
      'ask whose login it was; if it was not theirs, end the sessions and reset the password',
    ],
    [
      { role: 'source', activity: 'login', action: 'blocked', password_accepted: true },
      'reset the password: it was right',
    ],
    [
      { role: 'claimed', direction: 'inbound', action: 'allowed' },
      'look for other events of that client: it wrote 203.0.113.7 itself, which proves nothing',
    ],
  ] as const)('of %j says to %s', (traffic, text) => {
    expect(adviceFor({ value, peer, verdict: 'malicious', ...traffic })).toBe(text)
  })

  it.each([
    [
      { verdict: 'suspicious', direction: 'outbound', action: 'allowed' },
      'find the program on 10.0.0.5 that asks for it; do not block 203.0.113.7 on suspicion alone',
    ],
    [
      { verdict: 'suspicious', direction: 'inbound', action: 'allowed' },
      'find what it did on 10.0.0.5; do not block 203.0.113.7 on suspicion alone',
    ],
    [{ verdict: 'suspicious', direction: 'inbound', action: 'blocked' }, 'find what it did on 10.0.0.5'],
    [{ verdict: 'unknown', direction: 'inbound', action: 'allowed' }, 'find what it did on 10.0.0.5'],
    [{ direction: 'inbound', action: 'allowed' }, 'find what it did on 10.0.0.5'],
  ] as const)('says to block only what is malicious: %j', (traffic, text) => {
    expect(adviceFor({ value, peer, ...traffic })).toBe(text)
  })

  it('names one of those who have seen what is malicious now, and nothing where there is no one indicator', () => {
    expect(adviceFor({ value, peers: [peer, '10.0.0.6'], direction: 'outbound', action: 'allowed' })).toContain(
      'on 10.0.0.5 ',
    )
    expect(adviceFor({ direction: 'unknown' })).toBe('')
  })
})
