// Decides which indicators may be looked up, before any call, so that private data stays inside and no credit is wasted.
import { readAddress } from '../domain/address.js'
import { systemClock } from '../base/clock.js'
import type { Decide, Decision, GateOptions, IndicatorList } from '../domain/decision.js'
import { unknownOf } from '../domain/finding.js'
import { isInternalName } from '../domain/internal-names.js'
import type { Layer } from '../domain/lookup.js'
import { createNameSet } from '../domain/name-set.js'
import { publicSuffix } from '../domain/public-suffix.js'
import { createRangeSet } from '../domain/range-set.js'
import type { Reason } from '../domain/reason.js'
import { isServiceName, withoutServiceLabels } from '../domain/service-name.js'
import type { Role, Sighting } from '../domain/sighting.js'
import { isDocumentation, specialReason } from '../domain/special-ranges.js'

const nothing = { ranges: createRangeSet([]), names: createNameSet([]) }
const defaults: GateOptions = {
  ownRanges: nothing.ranges,
  internalSuffixes: nothing.names,
  publicSuffixes: nothing.names,
  allow: nothing,
  deny: nothing,
  askFreeText: false,
  domainAsk: 'registrable',
}

const skip = (reason: Reason): Decision => Object.freeze({ decision: 'skip', reason })
const skips = {
  bad_input: skip('bad_input'),
  private_address: skip('private_address'),
  special_address: skip('special_address'),
  own_range: skip('own_range'),
  internal_name: skip('internal_name'),
  observer: skip('observer'),
  translated: skip('translated'),
  allow_listed: skip('allow_listed'),
} as const
const feedsOnly: Decision = Object.freeze({ decision: 'feeds', reason: 'feeds_only' })

const skipForRole = (role: Role): Decision | undefined =>
  role === 'observer' || role === 'translated' ? skips[role] : undefined

/** The host was contacted, whatever its name looks like; service discovery names only appear in queries. */
const isContacted = (role: Role): boolean =>
  role === 'url' || role === 'destination' || role === 'source' || role === 'mail'

/**
 * The first matching rule decides.
 * Addresses: private or special; own range or deny list (`own_range`); observer, translated; allow list; claimed or found by a reverse
 * lookup (`feeds_only`); otherwise looked up, even from free text. NAT64, 6to4 and Teredo addresses are special and not unwrapped, because
 * their writer chooses the embedded address.
 * Names: internal by suffix (unless declared public), internal suffix or deny list (`internal_name`); service discovery (`feeds_only`);
 * observer, translated; allow list; claimed or only in free text (`feeds_only`); otherwise looked up.
 */
export const createDecide = (given: Partial<GateOptions> = {}): Decide => {
  const options: GateOptions = { ...defaults, ...given }
  const { ownRanges, internalSuffixes, publicSuffixes, allow, deny, askFreeText, domainAsk, documentation } = options
  const { now = () => systemClock.now() } = options

  const decideAddress = ({ value, role, evidence }: Sighting): Decision => {
    const address = readAddress(value)
    if (address === undefined) return skips.bad_input
    const special = specialReason(address)
    if (special !== undefined && !(documentation && isDocumentation(address))) return skips[special]
    if (ownRanges.has(address) || deny.ranges.has(address)) return skips.own_range
    const unasked = skipForRole(role)
    if (unasked !== undefined) return unasked
    const allowed = allowedBy(allow, ({ ranges }) => ranges.has(address), now)
    if (allowed !== undefined) return allowed
    if (role === 'claimed' || evidence === 'reverse') return feedsOnly
    return { decision: 'lookup', ask: { type: 'ip', value } }
  }

  const mustStay = (name: string): boolean => internalSuffixes.has(name) || deny.names.has(name)

  const decideName = ({ value, role, evidence }: Sighting): Decision => {
    const isDeclaredPublic = publicSuffixes.size > 0 && publicSuffixes.has(value)
    if ((!isDeclaredPublic && isInternalName(value)) || mustStay(value)) return skips.internal_name
    const host = withoutServiceLabels(value)
    if (!host.includes('.') && !publicSuffixes.has(host)) return skips.internal_name
    const { isListed, isRegistry, registrable } = publicSuffix(host)
    if ((!isListed || isRegistry === true) && !isDeclaredPublic) return skips.internal_name
    if (value !== registrable && !isContacted(role) && isServiceName(value)) return feedsOnly
    // A private suffix such as github.io has no registrable domain, so it is looked up as is.
    const asked = domainAsk === 'registrable' && isListed && registrable !== undefined ? registrable : host
    // The looked-up name leaves the network, so the lists apply to it as well as to the name in the event.
    if (asked !== value && mustStay(asked)) return skips.internal_name
    const unasked = skipForRole(role)
    if (unasked !== undefined) return unasked
    const allowed = allowedBy(allow, ({ names }) => names.has(value) || (asked !== value && names.has(asked)), now)
    if (allowed !== undefined) return allowed
    if (role === 'claimed' || (evidence === 'text' && !askFreeText)) return feedsOnly
    return { decision: 'lookup', ask: { type: 'domain', value: asked } }
  }

  return (sighting) => (sighting.type === 'ip' ? decideAddress(sighting) : decideName(sighting))
}

/** An allow-list entry without expiry, or else the one that expires last. */
const allowedBy = (
  allow: IndicatorList,
  holds: (list: IndicatorList) => boolean,
  now: () => number,
): Decision | undefined => {
  if (holds(allow)) return skips.allow_listed
  if (allow.expiring === undefined || allow.expiring.length === 0) return undefined
  const moment = now()
  const until = allow.expiring.filter((list) => list.until > moment && holds(list)).map((list) => list.until)
  return until.length === 0 ? undefined : { decision: 'skip', reason: 'allow_listed', until: Math.max(...until) }
}

/** Passes on indicators that may be looked up or matched in feeds, and answers the rest with the reason. */
export const gate =
  (decide: Decide): Layer =>
  (inner) =>
  (indicator, ask) => {
    const decision =
      ask.decision ??
      decide({ type: indicator.type, value: indicator.value, field: '', role: ask.role, evidence: ask.evidence })
    if (decision.decision === 'skip') return unknownOf(decision.reason)
    return inner(indicator, ask.decision === undefined ? { ...ask, decision } : ask)
  }
