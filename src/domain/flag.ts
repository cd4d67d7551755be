// The closed list of flags in answers; each is a flat member of the annotation.

export const flags = [
  'is_malicious',
  'can_remote_access',
  'is_vpn',
  'is_anonymous_vpn',
  'is_proxy',
  'is_tor',
  'is_darkweb',
  'is_scanner',
  'is_snort',
  'is_hosting',
  'is_cloud',
  'is_mobile',
  'is_safe_dns_server',
  // Set by feeds: a URL on this shared host is listed, which does not affect the host itself.
  'safeguarded',
] as const

export type Flag = (typeof flags)[number]
export type Flags = { readonly [flag in Flag]?: boolean }
