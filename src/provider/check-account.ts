// Queries the account behind the key: plan, quota and problems, without personal data.
import { printable } from '../domain/control-characters.js'
import type { Reason } from '../domain/reason.js'
import type { Client, Reply } from './client.js'

type Account =
  | { readonly ok: true; readonly plan: string; readonly quota: string; readonly notes: readonly string[] }
  | { readonly ok: false; readonly reason: Reason; readonly problem: string; readonly advice: string }

export const checkAccount = async (client: Client): Promise<{ readonly account: Account; readonly reply: Reply }> => {
  const reply = await client.call('user/me', {})
  return { account: accountOf(reply), reply }
}

const accountOf = (reply: Reply): Account => {
  if (reply.status === 'failure') {
    const { reason, detail } = reply.failure
    return { ok: false, reason, problem: detail, advice: advices[reason] ?? 'Try again later.' }
  }
  const { body, read } = reply
  const { account } = read
  const notes = [
    ...noteOf('member since', account.memberSince(body)),
    ...noteOf('plan since', account.planSince(body)),
    ...noteOf('last seen', account.lastSeen(body)),
    ...(account.email(body) === undefined ? [] : ['e-mail: [redacted]']),
    ...(account.key(body) === undefined ? [] : ['key: [redacted]']),
  ]
  return { ok: true, plan: account.plan(body) ?? 'not said', quota: account.quota(body) ?? 'not said', notes }
}

const noteOf = (title: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`${title}: ${value}`]

const advices: { readonly [reason in Reason]?: string } = {
  bad_key: 'Check intel.service.apiKey: the service does not know this key.',
  no_credit: 'The account has no credit left, or its plan does not include this call.',
  plan: 'The plan of the account does not include this call; lookups may still work.',
  busy: 'Another call of the same account was in progress; try again.',
  throttled: 'The service asks for fewer calls; try again later.',
  unavailable:
    'The service cannot be reached, or another server answers in its place: check intel.service.baseUrl, the proxy variables and intel.service.caFile.',
  timeout: 'The service did not answer in time: check intel.service.baseUrl and the proxy variables.',
  bad_answer:
    'The answer does not come from the lookup service: check intel.service.baseUrl and intel.service.profile.',
}

/** Human-readable text, one fact per line. */
export const describeAccount = (account: Account): string =>
  account.ok
    ? [
        `The key works. Plan: ${account.plan}. Quota: ${account.quota}.`,
        ...account.notes.map((note) => `  ${note}`),
        '',
      ].join('\n')
    : `The account cannot be used: ${account.reason} (${printable(account.problem)}).\n  ${account.advice}\n`
