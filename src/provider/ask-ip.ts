// Looks up an address: calls the chosen operations one after the other and merges their facts.
import { createBoundedCache } from '../base/bounded-cache.js'
import { type Answered, type Facts, type Finding } from '../domain/finding.js'
import type { Call } from '../domain/lookup.js'
import { addressOperations, dueOperation, type AddressChoices } from '../domain/operation-choice.js'
import type { OperationName } from '../domain/operations.js'
import type { ProviderAnswer } from './client.js'
import { joinFacts } from './facts.js'
import { isPlainlyClean } from './plainly-clean.js'
import { transmit, type CallContext } from './transmit.js'

export type AddressSettings = { readonly operations: AddressChoices }

/** Whether facts are malicious or suspicious for some role. */
export type IsAccused = (facts: Facts, value: string) => boolean

const refusalsBeforePause = 5
const pauseMs = 3_600_000
const partialMs = 600_000
const maxPartial = 1024

export const createAskIp = (
  context: CallContext,
  { operations: chosen }: AddressSettings,
  isAccused: IsAccused,
): ((ip: string, call: Call, former?: readonly Answered[]) => Promise<Finding>) => {
  const pause = createIpv6Pause(context)
  /** Answers of lookups whose later call failed, so that the next attempt does not pay for them again. */
  const partial = createBoundedCache<string, readonly Answered[]>(maxPartial / 2)
  const takePartial = (ip: string): readonly Answered[] => {
    const answers = partial.get(ip) ?? []
    partial.delete(ip)
    return answers.filter(({ at }) => context.now() - at < partialMs)
  }
  const ask = async (ip: string, operation: OperationName, call: Call): Promise<Answered | Finding> => {
    const answer = await transmit(context, call, operation as 'ip/data', { ip }, misfitOf(ip))
    if (answer.status === 'unknown')
      return answer.reason === 'not_found' && answer.at !== undefined ? { operation, at: answer.at } : answer
    const now = context.now()
    return { operation, at: answer.at ?? now, facts: answer.read.addressFacts(answer.body, now) }
  }

  return async (ip, call, former = []) => {
    const isIpv6 = ip.includes(':')
    const leftMs = isIpv6 ? pause.leftMs() : 0
    if (leftMs > 0) return { status: 'unknown', reason: 'cooling_down', retryAfterMs: leftMs }
    const answers = new Map([...former, ...takePartial(ip)].map((answer) => [answer.operation, answer]))
    for (;;) {
      const facts = factsOf([...answers.values()])
      const name = dueAddressOperation(chosen, answers, facts, ip, isAccused)
      if (name === undefined) return addressFinding([...answers.values()])
      const answer = await ask(ip, `ip/${name}`, call)
      if (!('status' in answer)) {
        answers.set(answer.operation, answer)
        if (isIpv6) pause.answered()
        continue
      }
      if (isIpv6 && answer.status === 'unknown' && answer.reason === 'bad_input') pause.refused()
      // A malicious result stands without the failed operation; a clean one does not.
      if (facts && (facts.flags.is_malicious === true || chosen[name] === 'accused'))
        return addressFinding([...answers.values()])
      if (answers.size > 0) partial.set(ip, [...answers.values()])
      return answer
    }
  }
}

/** Undefined if nothing is missing. */
export const dueAddressOperation = (
  chosen: AddressChoices,
  answers: { readonly has: (operation: string) => boolean },
  facts: Facts | undefined,
  ip: string,
  isAccused: IsAccused,
): keyof AddressChoices | undefined =>
  dueOperation(addressOperations, chosen, (name) => answers.has(`ip/${name}`), {
    // A not-found answer needs no further operations.
    isUnclean: () =>
      facts === undefined ? !addressOperations.some((name) => answers.has(`ip/${name}`)) : !isPlainlyClean(facts),
    isAccused: () => facts !== undefined && isAccused(facts, ip),
  })

/** Undefined if no answer has facts. */
const factsOf = (answers: readonly Answered[]): Facts | undefined => {
  let joined: Facts | undefined
  for (const { facts } of answers) if (facts) joined = joined ? joinFacts(joined, facts) : facts
  return joined
}

const addressFinding = (answers: readonly Answered[]): Finding => {
  const facts = factsOf(answers)
  const at = Math.min(...answers.map((answer) => answer.at))
  const operations = answers.map(({ operation }) => operation)
  if (!facts) return { status: 'unknown', reason: 'not_found', at, operations }
  return {
    status: 'known',
    facts,
    source: 'service',
    at,
    operations,
    ...(answers.length > 1 && { answers }),
  }
}

const misfitOf =
  (ip: string) =>
  ({ body, read }: ProviderAnswer): string | undefined =>
    read.addressMisfit(ip, body)

/** Pauses IPv6 lookups after several refusals in a row, because a provider may not support IPv6; tries again later. */
const createIpv6Pause = ({ now, emit }: CallContext) => {
  let refusals = 0
  let until = 0
  return {
    leftMs: (): number => until - now(),
    answered: (): void => {
      refusals = 0
    },
    refused: (): void => {
      refusals++
      if (refusals < refusalsBeforePause) return
      refusals = refusalsBeforePause - 1
      until = now() + pauseMs
      emit({ event: 'ipv6_lookups_paused', forMs: pauseMs })
    },
  }
}
