// Notes whether any lookup was answered: work whose key was refused throughout must not end as if it had been done.
import type { Finding } from '../../domain/finding.js'
import { kindOf, type Reason } from '../../domain/reason.js'

export type Answers = {
  readonly lookedUp: (ms: number, finding: Finding) => void
  /** What to say where every lookup failed because of the key; nothing else counts. */
  readonly refusal: () => string | undefined
}

const ofTheKey: ReadonlyMap<Reason, string> = new Map([
  ['bad_key', 'the lookup service refuses the key'],
  ['no_credit', 'the account has no credit left'],
  ['plan', 'the plan of the account does not allow them'],
])

export const watchAnswers = (): Answers => {
  let others = 0
  const refused = new Map<Reason, number>()
  return {
    lookedUp: (_, finding) => {
      const reason = finding.status === 'unknown' && kindOf(finding.reason) === 'failure' ? finding.reason : undefined
      if (reason !== undefined && ofTheKey.has(reason)) refused.set(reason, (refused.get(reason) ?? 0) + 1)
      else others++
    },
    refusal: () => {
      if (others > 0 || refused.size === 0) return undefined
      const why = [...refused.keys()].map((reason) => `${ofTheKey.get(reason) ?? ''} (${reason})`).join(', ')
      return `no lookup was answered: ${why}; \`threatweave check --online\` says more about the account`
    },
  }
}
