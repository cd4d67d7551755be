// Why an accused event raises no alert, as a closed list.

/** Each completes "no rule fires because …". */
export const noAlertWords = {
  blocked_inbound: 'it was blocked on its way in',
  failed_login: 'the login failed',
  background_unknown_action: 'nothing says that it got through, and its listing names no serious threat',
  only_suspicious: 'it is only suspicious',
  suppressed: 'it was alerted before, and is suppressed for a while',
  reverse_lookup: 'the address was only looked up in reverse',
  safeguarded: 'a safeguard list protects it',
  rule_filtered: 'a filter excludes it',
  no_rule: 'none covers it',
} as const

export type NoAlertReason = keyof typeof noAlertWords

export const noAlertReasons = Object.keys(noAlertWords) as readonly NoAlertReason[]

export type ByReason = Readonly<Partial<Record<NoAlertReason, number>>>

/** Each reason that occurs with its count, most frequent first. */
export const rankReasons = (counts: ByReason): readonly (readonly [reason: NoAlertReason, count: number])[] =>
  noAlertReasons
    .flatMap((reason) => (counts[reason] === undefined ? [] : [[reason, counts[reason]] as const]))
    .toSorted(([, one], [, other]) => other - one)
