// A sighting: an indicator in one field and role of one event.
import type { Activity } from './activity.js'
import type { Indicator } from './indicator.js'
import type { Unread } from './unread.js'

/** New roles go last: their places are in the records of the sightings topic. */
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
  /** An outside client wrote it and could have written anything: user agent, referrer, `X-Forwarded-For` beyond the proxies. */
  'claimed',
] as const
export type Role = (typeof roles)[number]

export const actions = ['allowed', 'blocked', 'unknown'] as const
export type Action = (typeof actions)[number]

export const directions = ['inbound', 'outbound', 'internal', 'external', 'unknown'] as const
export type Direction = (typeof directions)[number]

/** Of the own network, or of the rest of the world. */
export type Side = 'inside' | 'outside'

/** What an event says of its connection besides the addresses. */
export type Flow = {
  /** It is the answer: the destination began the connection. */
  readonly isReply: boolean
  /** The side of an end whose address is public, by the role of an interface, a zone or a sensor. */
  readonly sourceSide: Side | undefined
  readonly destinationSide: Side | undefined
}

/** `field`: a field or position that is known to hold indicators, or a URL or mail address; `text`: free text only; `reverse`: somebody asked for the name of the address. */
export type Evidence = 'field' | 'text' | 'reverse'

export type Sighting = Indicator & {
  /** A JSON path, a key of key=value or CEF, or `message`. */
  readonly field: string
  readonly role: Role
  readonly evidence: Evidence
  /** Path and query of each URL of this host that the event shows; absent where it shows the host alone. */
  readonly paths?: readonly string[] | undefined
  /** Of an address in a URL: the port there. */
  readonly port?: number | undefined
  /** The rule that gave the role: `format:…`, `field:…`, `words:…`, `text:…`, `position:…`. */
  readonly rule?: string
}

/** What an event without a recognised format is read as; formats cannot have these ids. */
export const lineKinds = ['json', 'cef', 'xml', 'w3c', 'pairs', 'text'] as const
const kinds: ReadonlySet<string> = new Set(lineKinds)

/** The format that recognised the event, if any. */
export const formatOf = ({ format }: Pick<Extraction, 'format'>): string | undefined =>
  format === undefined || kinds.has(format) ? undefined : format

/** Names of fields, such as all that some rules read. */
export type Names = Pick<ReadonlySet<string>, 'has'>

/** Values that have a name in an event's text: keys of key=value, CEF, LEEF and XML, columns and pieces that a format names. */
export type Noted = {
  /** The only ones that are noted. */
  readonly names: Names
  readonly values: Readonly<Record<string, unknown>>
  /** No value in the event's text has a name, whatever name is asked for. */
  readonly isNothing?: true
}

/** What was read from an event, before any lookup. */
export type Extraction = {
  readonly action: Action
  /** `other` if absent. */
  readonly activity?: Activity
  /** A login that failed after the password was right, because of a second factor or a policy. */
  readonly passwordAccepted?: boolean
  readonly sightings: readonly Sighting[]
  /** Whether the event has more indicators than listed. */
  readonly truncated: boolean
  /** Why the value of its record could not be read as its topic's format says. */
  readonly unread?: Unread['reason'] | undefined
  /** What the event was read as: the id of a format, or one of `lineKinds`. */
  readonly format?: string | undefined
  /** How many names below its top look like our annotation. */
  readonly forged?: number
  /** The rule that gave the action; empty if none did. */
  readonly actionRule?: string
  /** The word or number that it saw. */
  readonly actionSaw?: string
  /** 0 if unknown. */
  readonly sourcePort?: number
  readonly destinationPort?: number
  readonly flow?: Flow | undefined
  /** The piece of the line that says when it happened, where a format names one. */
  readonly time?: string | undefined
  /** Where somebody asks for them. */
  readonly noted?: Noted | undefined
}

/** Which way an event went, and what became of it. */
export type Traffic = { readonly direction: Direction; readonly action: Action }

/** What an indicator was in an event: the counts of past events keep it. */
export const seenAs = [
  /** What a machine of ours called or asked for. */
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
  /** Every other client, and what is not told apart. */
  'peer',
] as const
export type SeenAs = (typeof seenAs)[number]

/** With what became of the event. */
export type Kind = { readonly seen_as: SeenAs; readonly action: Action }

/** What is known of who has seen an indicator: how often, when, by which inside hosts. */
export type SeenTotals = {
  /** Events that show it. */
  readonly count: number
  /** Epoch milliseconds. */
  readonly first: number
  readonly last: number
  readonly peers: readonly string[]
  /** Sightings by inside hosts that are not listed. */
  readonly otherSightings: number
  /** The first and the last of each day, in order. */
  readonly offsets: readonly number[]
  /** Every direction and action of the events that show it. */
  readonly traffic: readonly Traffic[]
  readonly kinds: readonly Kind[]
}
