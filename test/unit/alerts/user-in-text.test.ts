import { expect, it } from 'vitest'
import { userInText } from '../../../src/alerts/user-in-text.js'

it.each([
  ['sshd[811]: Accepted password for root from 203.0.113.7 port 40022 ssh2', 'root'],
  ['sshd[811]: Failed password for invalid user oracle from 203.0.113.7 port 40022 ssh2', 'oracle'],
  ['imap-login: Login: user=<alice>, method=PLAIN, rip=203.0.113.7', 'alice'],
  ['vsftpd[811]: [alice] OK LOGIN: Client "203.0.113.7"', 'alice'],
  ['client=unknown[203.0.113.7], sasl_method=LOGIN, sasl_username=bob@example.com', 'bob@example.com'],
  ['User "carol" logged in from 203.0.113.7', 'carol'],
  ['worker-1 info: seen peer 203.0.113.7', undefined],
  [undefined, undefined],
])('finds in %j the user %j', (text, user) => {
  expect(userInText(text)).toBe(user)
})
