import { expect, it } from 'vitest'
import { networkOf } from '../../../src/domain/peer-network.js'

it.each([
  ['198.51.100.77', '198.51.100.0/24'],
  ['203.0.113.255', '203.0.113.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  // Machines inside have different owners.
  ['10.1.2.3', undefined],
  ['fd00::1', undefined],
  ['a-hash-or-a-name', undefined],
])('the network of %s is %s', (peer, network) => {
  expect(networkOf(peer)).toBe(network)
})
