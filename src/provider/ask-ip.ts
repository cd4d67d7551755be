// Asks about an address: whether it is malicious, and once more for scores and flags when it is not plainly clean.
import { createBoundedCache } from '../base/bounded-cache.js'
import type { Facts, Finding } from '../domain/finding.js'
import type { Call } from '../domain/lookup.js'
import type { ProviderAnswer } from './client.js'
import { joinFacts } from './facts.js'
import { transmit, type CallContext } from './transmit.js'

export type AddressSettings = { readonly escalate: boolean }

const refusalsBeforePause = 5
const pauseMs = 3_600_000
const heldForMs = 600_000
const maxHeld = 1024

export const createAskIp = (
  context: CallContext,
  { escalate }: AddressSettings,
): ((ip: string, call: Call) => Promise<Finding>) => {
  const pause = createIpv6Pause(context)
  /** First answers whose second call failed: the next attempt does not pay for them again. */
  const held = createBoundedCache<string, { readonly facts: Facts; readonly at: number }>(maxHeld / 2)

  const first = async (ip: string, call: Call): Promise<Finding> => {
    const kept = held.get(ip)
    held.delete(ip)
    if (kept && context.now() - kept.at < heldForMs) return known(kept.facts, kept.at)
    const answer = await transmit(context, call, 'ip/malicious-info', { ip }, misfitOf(ip))
    if (answer.status === 'unknown') return answer
    const now = context.now()
    return known(answer.read.addressFacts(answer.body, now), answer.at ?? now)
  }

  return async (ip, call) => {
    const isIpv6 = ip.includes(':')
    const leftMs = isIpv6 ? pause.leftMs() : 0
    if (leftMs > 0) return { status: 'unknown', reason: 'cooling_down', retryAfterMs: leftMs }
    const finding = await first(ip, call)
    if (isIpv6) pause.note(finding)
    if (finding.status === 'unknown' || !escalate || isPlainlyClean(finding.facts)) return finding
    const answer = await transmit(context, call, 'ip/suspicious_info', { ip }, misfitOf(ip))
    if (answer.status === 'answer') {
      const now = context.now()
      const facts = joinFacts(finding.facts, answer.read.addressFacts(answer.body, now))
      return known(facts, Math.min(finding.at, answer.at ?? now))
    }
    // Bad news is complete enough; without the scores there may be no good news.
    if (finding.facts.flags.is_malicious === true || answer.reason === 'not_found') return finding
    held.set(ip, { facts: finding.facts, at: finding.at })
    return answer
  }
}

const misfitOf =
  (ip: string) =>
  ({ body, read }: ProviderAnswer): string | undefined =>
    read.addressMisfit(ip, body)

const known = (facts: Facts, at: number): Finding => ({ status: 'known', facts, source: 'service', at })

export const isPlainlyClean = ({ flags, categories, idsHits = 0, scanningRecords = 0 }: Facts): boolean =>
  flags.is_malicious === false && categories.length === 0 && idsHits === 0 && scanningRecords === 0

/** Whether the provider takes IPv6 is not known; it is asked until it has refused a few in a row, and later once more. */
const createIpv6Pause = ({ now, emit }: CallContext) => {
  let refusals = 0
  let until = 0
  return {
    leftMs: (): number => until - now(),
    note: (finding: Finding): void => {
      if (finding.status === 'known') refusals = 0
      else if (finding.reason === 'bad_input') refusals++
      else if (finding.reason === 'not_found') refusals = 0
      if (refusals < refusalsBeforePause) return
      refusals = refusalsBeforePause - 1
      until = now() + pauseMs
      emit({ event: 'ipv6_lookups_paused', forMs: pauseMs })
    },
  }
}
