// Suffixes that no name of the public internet ends in: reserved ones, and those that networks use for themselves.
import { createNameSet } from './name-set.js'

/** Names whose suffix is not on the public list are internal too; these are named because some are on it, or may come to be. */
export const internalSuffixes: readonly string[] = [
  // Reserved: RFC 2606, 6761, 6762, 7686, 8375, 9476, 9665, and ICANN's `internal`.
  'test',
  'example',
  'invalid',
  'localhost',
  'local',
  'onion',
  'alt',
  'arpa',
  'internal',
  // Never delegated, because too many networks use them.
  'corp',
  'home',
  'mail',
  // Used by routers and networks for themselves.
  'lan',
  'intranet',
  'intra',
  'private',
  'localdomain',
  'domain',
  'workgroup',
  'router',
  'fritz.box',
]

const names = createNameSet(internalSuffixes.map((name) => ({ name, below: true })))

export const isInternalName = (name: string): boolean => names.has(name)
