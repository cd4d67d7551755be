// Finds the indicators of an event and the action taken on it: formats and known fields first, free text last.
import { parseObject } from '../../base/json-object.js'
import { readAddress } from '../../domain/address.js'
import type { RangeSet } from '../../domain/range-set.js'
import type { Extraction, Flow, Names, Sighting } from '../../domain/sighting.js'
import { isInside } from '../../domain/special-ranges.js'
import type { AnnotationKey } from '../annotate/annotation-key.js'
import { ObjectEvent, type Event } from '../event.js'
import { createActionFinder } from './action.js'
import { createActivityFinder, type Ends } from './activity.js'
import { settleBeside } from './beside.js'
import { isServerName, settleClaims, settleForwarded } from './claims.js'
import { createFieldOf } from './field.js'
import { roleWords } from './field-words.js'
import { createFindings, type Finding, type Findings } from './findings.js'
import { createFlowFinder } from './flow.js'
import { compileFormats, readRecognised, type FormatSpec } from './formats.js'
import { createReadLine } from './line.js'
import { createNotes, nothingNamed } from './noted.js'
import { createPaths } from './paths.js'
import { readLaterText, type Reader } from './reader.js'
import { createScan } from './scan.js'
import { createW3cFields } from './w3c-fields.js'

type ExtractSettings = {
  readonly maxIndicators: number
  readonly maxDepth: number
  /** The events are the lines of one source in order, so a header describes the lines after it. */
  readonly isOneSource?: boolean
  /** Recognises names that a reader could take for our annotation. */
  readonly annotationKey?: AnnotationKey
  /** Our own public addresses: a client there is inside. */
  readonly ownRanges?: RangeSet
  /** Public addresses of proxies that are trusted to name their callers. */
  readonly trustedProxies?: RangeSet | undefined
  /** The log formats to match lines against. */
  readonly formats?: readonly FormatSpec[] | undefined
  /** The names whose values are noted; asked again for each event. */
  readonly names?: (() => Names | undefined) | undefined
}

/** No event of a known product comes near these limits; they bound the cost of a hostile one. */
export const extractLimits = { maxIndicators: 64, maxDepth: 64 } as const

export type Extract = (event: Event) => Extraction

export const createExtract = (settings: ExtractSettings): Extract => {
  const recognise = compileFormats(settings.formats ?? [])
  const hasJsonFormats = settings.formats?.some(({ cut }) => cut === 'json') === true
  const fieldOf = createFieldOf()
  const paths = createPaths(fieldOf, settings.annotationKey)
  // Events are read one at a time, so one set of collectors serves them all.
  const findings = createFindings(settings.maxIndicators)
  const action = createActionFinder()
  const flow = createFlowFinder()
  const isOutside = (value: string): boolean => {
    const address = readAddress(value)
    return address !== undefined && !isInside(address) && settings.ownRanges?.has(address) !== true
  }
  const activity = createActivityFinder()
  /** Whether the text of the event names any value. */
  let hasNames = false
  const reader: Reader = {
    findings,
    action,
    flow,
    activity,
    fieldOf,
    later: [],
    forwarded: [],
    written: [],
    time: undefined,
    forged: 0,
    readLine: (...line) => void readLine(...line),
    note: (name, value) => {
      hasNames = true
      notes?.note(name, value)
    },
    noteMembers: (object) => {
      hasNames = true
      if (notes) for (const [name, value] of Object.entries(parseObject(object) ?? {})) notes.note(name, value)
    },
  }
  const scan = createScan(reader, paths, settings.maxDepth)
  const readLine = createReadLine(reader, scan, recognise)
  const readByHeader = settings.isOneSource === true ? createW3cFields(reader) : undefined

  let notes: ReturnType<typeof createNotes> | undefined
  let names: Names | undefined
  const begin = (): void => {
    const asked = settings.names?.()
    if (asked !== names) {
      names = asked
      notes = asked && createNotes(asked)
    }
    notes?.begin()
    hasNames = false
    findings.reset()
    action.reset()
    flow.reset()
    activity.reset()
    reader.later.length = 0
    reader.forwarded.length = 0
    reader.written.length = 0
    reader.time = undefined
    reader.forged = 0
    paths.begin()
  }
  const end = (event: Event, format: string, isCut: boolean): Extraction => {
    settleBeside(findings, {
      // A remote end counts as the source until this is known.
      isLocalFirst: action.isLocalFirst(findings.portOf('source'), findings.portOf('destination')),
      isRequest: activity.isRequest(),
      event,
    })
    readLaterText(reader)
    settleForwarded(findings, reader.forwarded, settings.trustedProxies)
    findings.joinPath()
    const ends = endsOf(findings.list(), isOutside)
    const known = activity.result(action.result(), action.outcome(), ends)
    const found = known.found.action === 'unknown' ? flow.action() : known.found
    if (known.activity === 'login') settleLogin(findings)
    settleWithheld(findings)
    const isFromOutside = ends.client !== undefined && isOutside(ends.client)
    if (isFromOutside)
      settleClaims(findings, reader.written, {
        activity: known.activity,
        isFailedLogin: known.isFailedLogin,
        isInbound: known.activity === 'request' || (ends.server !== undefined && !isOutside(ends.server)),
      })
    let sourcePort = findings.portOf('source')
    let destinationPort = findings.portOf('destination')
    if ((sourcePort !== 0 || destinationPort !== 0) && flow.isWithoutPorts()) sourcePort = destinationPort = 0
    return {
      action: found.action,
      activity: known.activity,
      passwordAccepted: known.passwordAccepted && found.action === 'blocked',
      sightings: findings.list(),
      truncated: findings.isTruncated() || isCut,
      format,
      forged: reader.forged,
      actionRule: found.rule,
      actionSaw: found.saw,
      sourcePort,
      destinationPort,
      flow:
        known.activity === 'request' && isFromOutside
          ? requestFromOutside
          : flow.result(sourcePort, destinationPort, found.action === 'blocked'),
      time: reader.time,
      noted: hasNames ? notes?.result() : nothingNamed,
    }
  }

  /** Reads and checks the JSON object of the event in one pass; undefined if the event is not an object. */
  const readObject = (event: ObjectEvent): Extraction | undefined => {
    begin()
    const scanned = scan(event.bytes, event.bom ? 3 : 0, 0, event.searchedBytes)
    if (scanned === undefined) return undefined
    const hasAnnotationName = settings.annotationKey === undefined ? undefined : scanned.hasAnnotationName
    if (!event.confirm(hasAnnotationName)) return undefined
    return end(event, readJsonFormat(event), event.isLarge)
  }

  const readJsonFormat = (event: ObjectEvent): string => {
    if (!hasJsonFormats) return 'json'
    const found = recognise('json', { text: event.text, start: 0, at: (path) => textAt(event.value, path) })
    if (found) readRecognised(reader, found, 'message')
    return found?.id ?? 'json'
  }

  return (event) => {
    const read = event instanceof ObjectEvent ? readObject(event) : undefined
    if (read !== undefined) return read
    begin()
    const format = readByHeader?.(event.text) === true ? 'w3c' : readLine(event.text, 'message', 0)
    if (reader.forged === 0 && tooDeep.has(event.reading) && settings.annotationKey?.mayHold(event.bytes) === true)
      reader.forged = 1
    return end(event, format, event instanceof ObjectEvent ? event.isLarge : event.reading === 'too_large')
  }
}

/** JSON that gets here is nested too deep to walk, but another reader may parse it. */
const tooDeep: ReadonlySet<Event['reading']> = new Set(['json', 'json_array'] as const)

/** A request to a server that writes its own access log. */
const requestFromOutside: Flow = { isReply: false, sourceSide: 'outside', destinationSide: 'inside' }

/** The only address of a login is its source. */
const settleLogin = (findings: Findings): void => {
  const isEnd = ({ type, role }: Sighting): boolean => type === 'ip' && role !== 'observer' && role !== 'translated'
  const all = findings.list()
  const at = all.findIndex(isEnd)
  if (all[at]?.role === 'other' && all.findLastIndex(isEnd) === at) findings.outrank(at, 'source', 'login:only')
}

/** One word in the name (`device_ip`) or before the value is too weak to keep an event's only address out of lookups. */
const settleWithheld = (findings: Findings): void => {
  const isWithheld = ({ role }: Sighting): boolean => role === 'observer' || role === 'translated'
  const all = findings.list()
  if (!all.some(isWithheld) || all.some((one) => one.type === 'ip' && !isWithheld(one) && one.role !== 'claimed'))
    return
  for (const [at, one] of [...all].entries())
    if (one.type === 'ip' && isWithheld(one) && restsOnOneWord(one)) findings.outrank(at, 'other', 'withheld:word')
}
const restsOnOneWord = ({ role, rule }: Finding): boolean =>
  rule === 'text:word'
    ? role === 'translated'
    : rule.startsWith('words:') &&
      rule
        .slice(6)
        .split('+')
        .filter((word) => roleWords.get(word) === role).length === 1

/** Takes the first address of each end, as the direction does. */
const endsOf = (sightings: readonly Sighting[], isOutside: Ends['isOutside']): Ends => {
  let client: string | undefined
  let server: string | undefined
  let hasQuery = false
  for (const { type, role, value, field } of sightings)
    if (role === 'query' || role === 'answer') hasQuery ||= !isServerName(field)
    else if (type === 'ip' && role === 'source') client ??= value
    else if (type === 'ip' && role === 'destination') server ??= value
  return { client, server, hasQuery, isOutside }
}

/** The scalar at a dotted path, as text. */
export const textAt = (value: unknown, path: string): string | undefined => {
  let at: unknown = value
  for (const name of path.split('.'))
    at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined
  return typeof at === 'string' || typeof at === 'number' || typeof at === 'boolean' ? String(at) : undefined
}
