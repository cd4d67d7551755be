// Local feeds: a listed indicator is answered at once, outside the memory, so new entries apply immediately.
import { whileFeedMissing, unknownOf, type Finding, type Known } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import type { Ask, Layer, Lookup } from '../domain/lookup.js'
import { kindOf } from '../domain/reason.js'
import { carrySoFar } from '../domain/so-far.js'

/** The listings of an indicator. A feed can only accuse, so there is no clean result. */
type Match = (indicator: Indicator, now?: number, shown?: Pick<Ask, 'paths' | 'port'>) => Known | undefined

/** `isMissing`: some feed has no list in use, so no indicator can be called unlisted. */
export const feeds =
  (match: Match, isMissing: () => boolean = () => false): Layer =>
  (inner) => {
    const flag = createFlag()
    const admitMissing = createAdmitMissing()
    return (indicator, ask) => {
      const listed = match(indicator, ask.now, ask)
      if (listed === undefined) {
        const found = askFurther(inner, indicator, ask)
        return isMissing() ? admitMissing(found) : found
      }
      return listed.facts.flags.safeguarded === true ? flag(listed, askFurther(inner, indicator, ask)) : listed
    }
  }

const askFurther = (inner: Lookup, indicator: Indicator, ask: Ask): Finding | Promise<Finding> => {
  const decision = ask.decision
  if (!decision) return inner(indicator, ask)
  // Feeds match the indicator as seen; inner layers only get the form that the gate allows.
  if (decision.decision === 'lookup') return inner(decision.ask, ask)
  return unknownOf(decision.decision === 'feeds' ? 'feeds_only' : decision.reason)
}

/** Accusations by others stand, but without one the finding is not clean while a feed is missing. The same input gives the same object. */
const createAdmitMissing = (): ((found: Finding | Promise<Finding>) => Finding | Promise<Finding>) => {
  const findings = new WeakMap<Finding, Finding>()
  const promises = new WeakMap<Promise<Finding>, Promise<Finding>>()
  const admitted = (found: Finding): Finding => {
    const marked = findings.get(found) ?? whileFeedMissing(found)
    findings.set(found, marked)
    return marked
  }
  return (found) => {
    if (!(found instanceof Promise)) return admitted(found)
    const known = promises.get(found) ?? carrySoFar(found, found.then(admitted), admitted)
    promises.set(found, known)
    return known
  }
}

/**
 * Adds the safeguarded flag to the finding of others. The same finding or promise gives the same object, because waiting events are grouped
 * by it.
 */
const createFlag = (): ((listed: Known, found: Finding | Promise<Finding>) => Finding | Promise<Finding>) => {
  const knowns = new WeakMap<Known, Known>()
  const promises = new WeakMap<
    Promise<Finding>,
    { readonly entry: string | undefined; readonly then: Promise<Finding> }
  >()

  const flagged = (listed: Known, found: Finding): Finding => {
    if (found.status === 'unknown') return kindOf(found.reason) === 'failure' ? found : listed
    const known = knowns.get(found)
    if (known) return known
    const { facts } = found
    const made: Known = { ...found, facts: { ...facts, flags: { ...facts.flags, safeguarded: true } } }
    knowns.set(found, made)
    return made
  }
  return (listed, found) => {
    if (!(found instanceof Promise)) return flagged(listed, found)
    const entry = listed.facts.listings?.[0]?.entry
    const known = promises.get(found)
    if (known?.entry === entry && known !== undefined) return known.then
    const flag = (finding: Finding): Finding => flagged(listed, finding)
    const then = carrySoFar(found, found.then(flag), flag)
    promises.set(found, { entry, then })
    return then
  }
}
