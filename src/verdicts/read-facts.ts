// Parses facts from untrusted records: checks type and bounds of every member, and rejects unknown ones.
import { isObject } from '../base/json-object.js'
import { ratings, type Facts, type HostReport, type Listing } from '../domain/finding.js'
import { exposures, type AddressDetails } from '../domain/address-details.js'
import { flags } from '../domain/flag.js'

/** More than fit into a record. */
const maxItems = 100
const maxText = 300

type Read = (value: unknown) => boolean

const isText: Read = (value) => typeof value === 'string' && value.length <= maxText
const isTexts: Read = (value) => Array.isArray(value) && value.length <= maxItems && value.every(isText)
const isAmount: Read = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0
const isCount: Read = (value) => Number.isSafeInteger(value) && (value as number) > 0
const isTime: Read = (value) => typeof value === 'number' && Number.isSafeInteger(value)
const isFlag: Read = (value) => typeof value === 'boolean'
const isOneOf =
  (...names: readonly string[]): Read =>
  (value) =>
    names.includes(value as string)
const isListOf =
  (isItem: Read): Read =>
  (value) =>
    Array.isArray(value) && value.length <= maxItems && value.every(isItem)

/** All members are known and valid, and required ones are present. */
const isMadeOf =
  <Shape>(
    members: { readonly [Name in keyof Required<Shape>]: Read },
    ...needed: readonly (keyof Shape & string)[]
  ): Read =>
  (value) => {
    if (!isObject(value)) return false
    const known = members as Readonly<Record<string, Read>>
    return (
      Object.entries(value).every(([name, given]) => Object.hasOwn(known, name) && known[name]?.(given)) &&
      needed.every((name) => value[name] !== undefined)
    )
  }

const isHost = isMadeOf<HostReport>(
  {
    host: isText,
    at: isTime,
    scanId: isText,
    rating: isOneOf(...ratings),
    issues: isTexts,
    phishingRecords: isAmount,
    safeBrowsingHits: isAmount,
    criticalAbuseRecords: isAmount,
    phishingProbability: isAmount,
    dgaScore: isAmount,
    registeredAt: isTime,
    fakeDomain: isFlag,
    invalidTls: isFlag,
  },
  'host',
  'issues',
)

const isListing = isMadeOf<Listing>(
  {
    feed: isText,
    entry: isText,
    level: isOneOf('malicious', 'suspicious', 'flag'),
    score: isAmount,
    categories: isTexts,
    isPartial: isFlag,
    url: isText,
    since: isTime,
    copyAt: isTime,
    expires: isTime,
    evidence: isText,
    at: isTime,
    stale: isFlag,
  },
  'feed',
  'entry',
  'level',
  'categories',
)

const isFlags: Read = (value) =>
  isObject(value) &&
  Object.entries(value).every(([name, given]) => flags.includes(name as never) && typeof given === 'boolean')

const isDetails = isMadeOf<AddressDetails>({
  owner: isText,
  country: (value) => typeof value === 'string' && /^[A-Z]{2}$/.test(value),
  as: isMadeOf<NonNullable<AddressDetails['as']>>({ number: isCount, name: isText }, 'number'),
  openPorts: isListOf(isCount),
  vulnerabilities: isListOf((value) => typeof value === 'string' && /^CVE-[\d-]{1,20}$/.test(value)),
  exposes: isListOf(isOneOf(...exposures)),
})

/** Additional members of earlier versions. */
type Former = { readonly vulnerabilities?: number; readonly openPorts?: number }

const isFacts = isMadeOf<Facts & Former>(
  {
    flags: isFlags,
    inbound: isOneOf(...ratings),
    outbound: isOneOf(...ratings),
    categories: isTexts,
    scanningRecords: isAmount,
    idsHits: isAmount,
    idsLatest: isTime,
    abuseRecords: isAmount,
    abuseLatest: isTime,
    vulnerabilities: isAmount,
    openPorts: isAmount,
    details: isDetails,
    domain: isText,
    hosts: isListOf(isHost),
    listings: isListOf(isListing),
    described: isFlags,
    clearedBy: isTexts,
  },
  'flags',
  'categories',
)

export const readFacts = (value: unknown): Facts | undefined => (isFacts(value) ? (value as Facts) : undefined)
