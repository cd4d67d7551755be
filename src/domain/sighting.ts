// A sighting: an indicator in one field and role of one event.
import type { Activity } from './activity.js'
import type { Indicator } from './indicator.js'
import type { Unread } from './unread.js'

/** Append new roles at the end: records of the sightings topic store the position. */
export const roles = [
  'source',
  'destination',
  'query',
  'url',
  'mail',
  'answer',
  'observer',
  'translated',
  'other',
  /** Controlled by an outside client: user agent, referrer, `X-Forwarded-For` beyond the proxies. */
  'claimed',
] as const
export type Role = (typeof roles)[number]

export const actions = ['allowed', 'blocked', 'unknown'] as const
export type Action = (typeof actions)[number]

export const directions = ['inbound', 'outbound', 'internal', 'external', 'unknown'] as const
export type Direction = (typeof directions)[number]

/** Our own network, or the rest of the world. */
export type Side = 'inside' | 'outside'

/** Properties of the connection in an event. */
export type Flow = {
  /** The event is a reply, so the destination opened the connection. */
  readonly isReply: boolean
  /** The side of a public address, from the role of an interface, a zone or a sensor. */
  readonly sourceSide: Side | undefined
  readonly destinationSide: Side | undefined
}

/** `field`: a known field or position, or part of a URL or mail address; `text`: only in free text; `reverse`: the subject of a reverse DNS query. */
export type Evidence = 'field' | 'text' | 'reverse'

export type Sighting = Indicator & {
  /** A JSON path, a key of key=value or CEF, or `message`. */
  readonly field: string
  readonly role: Role
  readonly evidence: Evidence
  /** Path and query of each URL with this host in the event; absent without a URL. */
  readonly paths?: readonly string[] | undefined
  /** The port in the URL, for an address in a URL. */
  readonly port?: number | undefined
  /** The rule that gave the role: `format:…`, `field:…`, `words:…`, `text:…`, `position:…`. */
  readonly rule?: string
}

/** Fallback readers for events without a recognised format; reserved as format ids. */
export const lineKinds = ['json', 'cef', 'xml', 'w3c', 'pairs', 'text'] as const
const kinds: ReadonlySet<string> = new Set(lineKinds)

/** The format that recognised the event, if any. */
export const formatOf = ({ format }: { readonly format?: string | undefined }): string | undefined =>
  format === undefined || kinds.has(format) ? undefined : format

/** Names of fields, such as all that some rules read. */
export type Names = Pick<ReadonlySet<string>, 'has'>

/** Named values in the text of an event: keys of key=value, CEF, LEEF and XML, and columns and pieces of a format. */
export type Noted = {
  /** The names to collect; others are ignored. */
  readonly names: Names
  readonly values: Readonly<Record<string, unknown>>
  /** No value in the event's text has a name, whatever name is asked for. */
  readonly isNothing?: true
}

/** The result of extraction, before any lookup. */
export type Extraction = {
  readonly action: Action
  /** `other` if absent. */
  readonly activity?: Activity
  /** The password was right, but a second factor or a policy stopped the login. */
  readonly passwordAccepted?: boolean
  readonly sightings: readonly Sighting[]
  /** Whether the event has more indicators than listed. */
  readonly truncated: boolean
  /** Why the value could not be decoded in the format of its topic. */
  readonly unread?: Unread['reason'] | undefined
  /** The id of the format, or one of `lineKinds`. */
  readonly format?: string | undefined
  /** The number of nested members that look like our annotation. */
  readonly forged?: number
  /** The rule that gave the action; empty if none did. */
  readonly actionRule?: string
  /** The word or number that it saw. */
  readonly actionSaw?: string
  /** 0 if unknown. */
  readonly sourcePort?: number
  readonly destinationPort?: number
  readonly flow?: Flow | undefined
  /** The timestamp in the line, if the format names it. */
  readonly time?: string | undefined
  /** Only if rules need named values. */
  readonly noted?: Noted | undefined
}

/** The direction and action of an event. */
export type Traffic = { readonly direction: Direction; readonly action: Action }

/** The part an indicator played in an event; stored with the counts of past events. */
export const seenAs = [
  /** The target of a connection or query from one of our machines. */
  'called',
  'login',
  /** A login with the right password that was stopped. */
  'login_stopped',
  /** A client at a port of administration or of a database. */
  'administration',
  /** The peer of a mail server. */
  'mail_peer',
  'answer',
  /** A sender or a URL in a message. */
  'mail',
  'claimed',
  /** Any other client, or unclassified. */
  'peer',
] as const
export type SeenAs = (typeof seenAs)[number]

/** The part played, with the action of the event. */
export type Kind = { readonly seen_as: SeenAs; readonly action: Action }

/** Past sightings of an indicator: count, times and inside hosts. */
export type SeenTotals = {
  /** Events that show it. */
  readonly count: number
  /** Epoch milliseconds. */
  readonly first: number
  readonly last: number
  readonly peers: readonly string[]
  /** Sightings by inside hosts beyond the listed ones. */
  readonly otherSightings: number
  /** The first and last offset of each day, in order. */
  readonly offsets: readonly number[]
  /** The distinct directions and actions of its events. */
  readonly traffic: readonly Traffic[]
  readonly kinds: readonly Kind[]
}
