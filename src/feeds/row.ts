// Rows with named columns, from a table or JSON objects: finds the column with the indicator and the columns with its details.
import type { ColumnPlace, Columns, Details, Place, Sink } from './feed.js'
import { parsePort } from './parse-port.js'
import { tlpOf } from './tlp.js'
import { parseTimestamp } from '../domain/timestamp.js'

/** Columns that may hold the indicator; the first non-empty one in this order is used. Names are lowercase, without punctuation. */
const valueColumns: readonly (readonly string[])[] = [
  ['value', 'indicator', 'indicatorvalue', 'ioc', 'iocvalue', 'observable', 'observablevalue'],
  ['url', 'uri'],
  ['cidr', 'network', 'netblock', 'prefix', 'subnet', 'ip', 'ipaddress', 'ipaddr', 'address', 'ipv4', 'ipv6'],
  ['domain', 'domainname', 'hostname', 'host', 'fqdn'],
]
/** Used only if the table has one side: with both, only a human can tell which one is the attacker. */
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
  /** ipsum: the number of lists that contain the address. */
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
  /** Last seen, or else first seen. */
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
  /** The port of the listed address; in a table of connections, the destination's. */
  port: ['dstport', 'destinationport', 'port', 'portnumber'],
} as const
type Detail = keyof typeof detailColumns

export type Layout = {
  readonly value: readonly number[]
  /** Name columns; next to an AS number, such a name is the network owner's. */
  readonly owner: readonly number[]
  /** Columns with the source address of a connection, whose port column belongs to the other end. */
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

/** The columns named in the feed's settings; undefined if one of them is missing. */
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

/** The layout, if a column is known to hold indicators, or `value` gives its position. */
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

/** Cells are strings or JSON values. */
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

/** `at` is the column of the indicator. */
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
  // abuse.ch writes `None` into empty cells.
  return typeof cell === 'string' && cell !== 'None' ? cell.trim() : ''
}

const scoreOf = (text: string | undefined, factor: number): number | undefined =>
  text !== undefined && /^\d{1,3}(?:\.\d{1,6})?$/.test(text) ? Number(text) * factor : undefined
