// Rows with named columns, of a table or of JSON objects: which column lists the indicator, and what the others say about it.
import type { ColumnPlace, Columns, Details, Place, Sink } from './feed.js'
import { parsePort } from './parse-port.js'
import { tlpOf } from './tlp.js'
import { parseTimestamp } from '../domain/timestamp.js'

/** Of several columns that may hold the indicator, the first of this order that is not empty. Names without case and punctuation. */
const valueColumns: readonly (readonly string[])[] = [
  ['value', 'indicator', 'indicatorvalue', 'ioc', 'iocvalue', 'observable', 'observablevalue'],
  ['url', 'uri'],
  ['cidr', 'network', 'netblock', 'prefix', 'subnet', 'ip', 'ipaddress', 'ipaddr', 'address', 'ipv4', 'ipv6'],
  ['domain', 'domainname', 'hostname', 'host', 'fqdn'],
]
/** These accuse by themselves alone: beside each other it takes a human to say who is the attacker. */
const directed = { source: ['srcip', 'sourceip', 'attackerip'], destination: ['dstip', 'destinationip'] } as const

const detailColumns = {
  score: [
    'score',
    'confidence',
    'confidencelevel',
    'riskscore',
    'threatscore',
    'abuseconfidencescore',
    'xopenctiscore',
  ],
  /** ipsum: on how many lists the address is. */
  lists: ['numberofblacklists'],
  categories: [
    'category',
    'categories',
    'threat',
    'threattype',
    'malware',
    'malwareprintable',
    'listingreason',
    'tags',
    'indicatortypes',
    'objectlabel',
  ],
  since: ['validfrom'],
  expires: ['expires', 'expiresat', 'expiration', 'expirationdate', 'validuntil'],
  /** When it was last seen, or else first. */
  seen: [
    'lastseen',
    'lastseenutc',
    'lastonline',
    'seen',
    'dateadded',
    'firstseen',
    'firstseenutc',
    'date',
    'listingdate',
    'modified',
  ],
  firstSeen: ['firstseen', 'firstseenutc', 'dateadded', 'listingdate'],
  revoked: ['revoked'],
  tlp: ['tlp', 'objectmarking'],
  asn: ['asn'],
  /** Of the address: the server's, where a table says what was called. */
  port: ['dstport', 'destinationport', 'port', 'portnumber'],
} as const
type Detail = keyof typeof detailColumns

export type Layout = {
  readonly value: readonly number[]
  /** One of the value columns is a name that, beside an AS number, is that of the network's owner. */
  readonly owner: readonly number[]
  /** Value columns that name who called: the port beside them is that of somebody else. */
  readonly sources: readonly number[]
} & { readonly [detail in Detail]: readonly number[] }

const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

const placesOf = (names: readonly string[], wanted: readonly string[]): number[] =>
  wanted.map((name) => names.indexOf(name)).filter((at) => at >= 0)

const chosenDetails = {
  port: 'port',
  score: 'score',
  category: 'categories',
  firstSeen: 'firstSeen',
  lastSeen: 'seen',
  expires: 'expires',
} as const satisfies { readonly [column in Exclude<keyof Columns, 'value'>]: Detail }

const placeOf = (names: readonly string[], column: ColumnPlace): number =>
  typeof column === 'number' ? column - 1 : names.indexOf(plainName(column))

/** Where the columns are that the feed's settings name; nothing where one of them is missing. */
export const chosenLayout = (header: readonly string[], columns: Columns): Layout | undefined => {
  const names = header.map(plainName)
  const layout = layoutOf(header, placeOf(names, columns.value))
  const chosen = Object.entries(chosenDetails).flatMap(([column, detail]) => {
    const place = columns[column as keyof typeof chosenDetails]
    return place === undefined ? [] : ([[detail, [placeOf(names, place)]]] as const)
  })
  const places = [placeOf(names, columns.value), ...chosen.flatMap(([, at]) => at)]
  return layout && places.every((at) => at >= 0)
    ? { ...layout, ...Object.fromEntries(chosen), owner: [], sources: columns.port === undefined ? layout.sources : [] }
    : undefined
}

/** Where the columns are, if one of them is known to hold indicators; `value` says so where its name does not. */
export const layoutOf = (header: readonly string[], value?: number): Layout | undefined => {
  const names = header.map(plainName)
  const known = valueColumns.flatMap((wanted) => placesOf(names, wanted))
  const ways = Object.values(directed).map((wanted) => placesOf(names, wanted))
  const alone = ways.filter((places) => places.length > 0)
  const values = value !== undefined ? [value] : known.length > 0 ? known : alone.length === 1 ? (alone[0] ?? []) : []
  if (values.length === 0) return undefined
  const details = Object.entries(detailColumns).map(([detail, wanted]) => [detail, placesOf(names, wanted)])
  return {
    ...(Object.fromEntries(details) as { readonly [detail in Detail]: readonly number[] }),
    value: values,
    owner: placesOf(names, valueColumns[3] ?? []),
    sources: placesOf(names, directed.source),
  }
}

/** Cells are text or JSON values. */
export const addRow = (cells: readonly unknown[], layout: Layout, place: Place, sink: Sink): boolean => {
  const at = layout.value.find((column) => textOf(cells[column]) !== '')
  const isOwner = at !== undefined && layout.owner.includes(at) && firstOf(cells, layout.asn) !== undefined
  if (at === undefined || isOwner) return sink.skip(place)
  if (isRevoked(cells, layout)) return sink.skip(place, 'revoked')
  return sink.add(textOf(cells[at]), place, detailsOf(cells, layout, at))
}

const firstOf = (cells: readonly unknown[], places: readonly number[]): string | undefined =>
  places.map((place) => textOf(cells[place])).find((cell) => cell !== '')

export const isRevoked = (cells: readonly unknown[], { revoked }: Layout): boolean =>
  /^(?:true|1)$/i.test(firstOf(cells, revoked) ?? '')

/** `at`: the column of the entry. */
export const detailsOf = (cells: readonly unknown[], layout: Layout, at: number): Details => {
  const first = (places: readonly number[]): string | undefined => firstOf(cells, places)
  const firstTime = (places: readonly number[]): number | undefined =>
    places.map((column) => parseTimestamp(textOf(cells[column]))).find((time) => time !== undefined)
  return {
    score: scoreOf(first(layout.score), 1) ?? scoreOf(first(layout.lists), 10),
    categories: layout.categories.flatMap((column) => textOf(cells[column]).split(/[,;|]/)),
    since: parseTimestamp(first(layout.since)),
    expires: parseTimestamp(first(layout.expires)),
    tlp: tlpOf(first(layout.tlp)),
    seen: firstTime(layout.seen),
    firstSeen: firstTime(layout.firstSeen),
    port: layout.sources.includes(at) ? undefined : parsePort(first(layout.port)),
  }
}

const textOf = (cell: unknown): string => {
  if (Array.isArray(cell)) return cell.filter((item) => typeof item === 'string').join(',')
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell)
  // How abuse.ch writes an empty cell.
  return typeof cell === 'string' && cell !== 'None' ? cell.trim() : ''
}

const scoreOf = (text: string | undefined, factor: number): number | undefined =>
  text !== undefined && /^\d{1,3}(?:\.\d{1,6})?$/.test(text) ? Number(text) * factor : undefined
