// A partition that is assigned to a process which stays a member, with nothing behind it.
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
