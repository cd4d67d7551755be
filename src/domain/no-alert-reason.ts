// The closed list of reasons why a malicious or suspicious event raises no alert.

/** Each completes "no rule fires because …". */
export const noAlertWords = {
  blocked_inbound: 'the inbound connection was blocked',
  failed_login: 'the login failed',
  background_unknown_action: 'the event has no action, and the listing names no serious threat',
  only_suspicious: 'it is only suspicious',
  suppressed: 'an earlier alert has an open suppression window',
  reverse_lookup: 'the address appears only in a reverse DNS query',
  safeguarded: 'a safeguard list contains the indicator',
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
