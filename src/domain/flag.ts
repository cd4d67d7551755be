// The closed list of flags that an answer may state; each is a flat member of the annotation.

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
  // Stated by the feeds: a URL on this shared host is listed, which says nothing about the host.
  'safeguarded',
] as const

export type Flag = (typeof flags)[number]
export type Flags = { readonly [flag in Flag]?: boolean }
