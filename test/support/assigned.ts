// A partition assigned to a process that stays a group member, without a real consumer.
import type { Assigned } from '../../src/kafka/fetched.js'

export const assignedAs = (some: Partial<Assigned> = {}): Assigned => ({
  topic: 'fw',
  partition: 0,
  generation: 1,
  seek: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
  isMember: () => true,
  proveMembership: () => Promise.resolve(),
  ...some,
})
