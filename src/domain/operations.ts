// The operations of a lookup service: names, parameters, and the requests of our own service. A profile maps them to a provider.

type ParameterKind = 'text' | 'whole' | 'boolean' | 'id'
export type Parameter = {
  readonly kind: ParameterKind
  readonly place: 'query' | 'path' | 'form'
  readonly required?: true
  /** Sent if the caller gives no value; without a default the parameter is omitted. */
  readonly default?: string | number | boolean
  readonly about: string
}
export type Operation = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly parameters: Readonly<Record<string, Parameter>>
  /** `flat`: members next to `status`; `data`: members under `data`. */
  readonly envelope: 'flat' | 'data'
  readonly about: string
}

const address = { ip: { kind: 'text', place: 'query', required: true, about: 'the address' } } as const
/** Some servers treat any value as true, so it is sent only when wanted. */
const full = { full: { kind: 'boolean', place: 'query', about: 'all rows of each list instead of 20' } } as const
const query = { query: { kind: 'text', place: 'query', required: true, about: 'words and filters' } } as const
const offset = { offset: { kind: 'whole', place: 'query', about: 'rows to pass over' } } as const
const id = { id: { kind: 'id', place: 'path', required: true, about: 'the number of the scan' } } as const
const site = { query: { kind: 'text', place: 'form', required: true, about: 'a domain or a URL' } } as const

export const operations = {
  'user/me': {
    method: 'POST',
    path: '/v1/user/me',
    parameters: {},
    envelope: 'data',
    about: 'the account behind the key',
  },
  'ip/data': {
    method: 'GET',
    path: '/v1/ip/data',
    parameters: { ...address, ...full },
    envelope: 'flat',
    about: 'everything known about an address',
  },
  'ip/summary': {
    method: 'GET',
    path: '/v1/ip/summary',
    parameters: address,
    envelope: 'flat',
    about: 'scores, location and owner of an address',
  },
  'ip/vpn': {
    method: 'GET',
    path: '/v1/ip/vpn',
    parameters: address,
    envelope: 'flat',
    about: 'VPN, Tor and proxy use of an address',
  },
  'ip/hosting': {
    method: 'GET',
    path: '/v1/ip/hosting',
    parameters: { ...address, ...full },
    envelope: 'flat',
    about: 'whether an address belongs to a hosting provider',
  },
  'ip/malicious-info': {
    method: 'GET',
    path: '/v1/ip/malicious-info',
    parameters: address,
    envelope: 'flat',
    about: 'whether an address is malicious, and its records',
  },
  'ip/privacy-threat': {
    method: 'GET',
    path: '/v1/ip/privacy-threat',
    parameters: address,
    envelope: 'flat',
    about: 'cameras, devices and admin pages open at an address',
  },
  'ip/is_safe_dns_server': {
    method: 'GET',
    path: '/v1/ip/is_safe_dns_server',
    parameters: address,
    envelope: 'flat',
    about: 'whether an address is a trustworthy DNS resolver',
  },
  'ip/suspicious_info': {
    method: 'GET',
    path: '/v1/ip/suspicious_info',
    parameters: address,
    envelope: 'flat',
    about: 'scores, flags and abuse records of an address',
  },
  'banner/search': {
    method: 'GET',
    path: '/v1/banner/search',
    parameters: { ...query, ...offset },
    envelope: 'data',
    about: 'open ports and their banners, by words and filters',
  },
  'banner/stats': {
    method: 'GET',
    path: '/v1/banner/stats',
    parameters: query,
    envelope: 'data',
    about: 'statistics of a banner search',
  },
  'domain/reports': {
    method: 'GET',
    path: '/v1/domain/reports',
    parameters: { ...query, ...offset },
    envelope: 'data',
    about: 'existing scans of a domain',
  },
  'domain/reports/personal': {
    method: 'GET',
    path: '/v1/domain/reports/personal',
    // Clients and servers disagree on the defaults, so all four are always sent.
    parameters: {
      offset: { kind: 'whole', place: 'query', default: 0, about: 'rows to pass over' },
      show_public: { kind: 'boolean', place: 'query', default: true, about: 'public scans of the account' },
      show_private: { kind: 'boolean', place: 'query', default: false, about: 'private scans of the account' },
      scan_type: { kind: 'text', place: 'query', default: 'full', about: 'full or lite' },
    },
    envelope: 'data',
    about: 'scans that the account started',
  },
  'domain/report': {
    method: 'GET',
    path: '/v1/domain/report/{id}',
    parameters: id,
    envelope: 'data',
    about: 'the full report of a scan',
  },
  'domain/status': {
    method: 'GET',
    path: '/v1/domain/status/{id}',
    parameters: id,
    envelope: 'data',
    about: 'the progress of a scan',
  },
  'domain/scan': {
    method: 'POST',
    path: '/v1/domain/scan',
    parameters: site,
    envelope: 'data',
    about: 'start a public scan',
  },
  'domain/scan/private': {
    method: 'POST',
    path: '/v1/domain/scan/private',
    parameters: site,
    envelope: 'data',
    about: 'start a private scan',
  },
  'exploit/search': {
    method: 'GET',
    path: '/v1/exploit/search',
    parameters: { ...query, ...offset },
    envelope: 'data',
    about: 'exploits, by words and filters',
  },
} as const satisfies Readonly<Record<string, Operation>>

export type OperationName = keyof typeof operations
export const operationNames = Object.keys(operations) as readonly OperationName[]
export const isOperation = (name: string): name is OperationName => Object.hasOwn(operations, name)

type Value<Kind extends ParameterKind> = Kind extends 'text'
  ? string
  : Kind extends 'whole'
    ? number
    : Kind extends 'boolean'
      ? boolean
      : string | number
type Of<Name extends OperationName> = (typeof operations)[Name]['parameters']
type Required<P> = { [Key in keyof P]: P[Key] extends { required: true } ? Key : never }[keyof P]

/** The parameters of a call: required ones, and optional ones. */
export type Parameters<Name extends OperationName> = {
  readonly [Key in Required<Of<Name>>]: Of<Name>[Key] extends { kind: infer Kind extends ParameterKind }
    ? Value<Kind>
    : never
} & {
  readonly [Key in Exclude<keyof Of<Name>, Required<Of<Name>>>]?: Of<Name>[Key] extends {
    kind: infer Kind extends ParameterKind
  }
    ? Value<Kind>
    : never
}
