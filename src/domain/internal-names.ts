// Suffixes of internal names: reserved ones and those used by private networks.

/** Names without a public suffix are internal anyway; these are listed because they are, or may become, public suffixes. */
const internalSuffixes = new Set([
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
])

/** The name that routers give themselves, below a suffix that has become public. */
const routerName = 'fritz.box'

export const isInternalName = (name: string): boolean =>
  internalSuffixes.has(name.slice(name.lastIndexOf('.') + 1)) ||
  (name.endsWith(routerName) && (name.length === routerName.length || name.at(-routerName.length - 1) === '.'))
