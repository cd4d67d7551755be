// Detects that every lookup failed because of the key, so that `pipe` does not end as if it had succeeded.
import type { Finding } from '../../domain/finding.js'
import { kindOf, type Reason } from '../../domain/reason.js'

type KeyCheck = {
  readonly lookedUp: (ms: number, finding: Finding) => void
  /** A message if every lookup failed because of the key. */
  readonly refusal: () => string | undefined
}

const keyReasons: ReadonlyMap<Reason, string> = new Map([
  ['bad_key', 'the lookup service refuses the key'],
  ['no_credit', 'the account has no credit left'],
  ['plan', 'the plan of the account does not allow them'],
])

export const detectRefusedKey = (): KeyCheck => {
  let others = 0
  const refused = new Map<Reason, number>()
  return {
    lookedUp: (_, finding) => {
      const reason = finding.status === 'unknown' && kindOf(finding.reason) === 'failure' ? finding.reason : undefined
      if (reason !== undefined && keyReasons.has(reason)) refused.set(reason, (refused.get(reason) ?? 0) + 1)
      else others++
    },
    refusal: () => {
      if (others > 0 || refused.size === 0) return undefined
      const why = [...refused.keys()].map((reason) => `${keyReasons.get(reason) ?? ''} (${reason})`).join(', ')
      return `no lookup was answered: ${why}; \`threatweave check --online\` checks the account`
    },
  }
}
