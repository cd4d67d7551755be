// Asks the provider about the account behind the key: plan, quota, and what is wrong; nothing personal is passed on.
import { printable } from '../domain/control-characters.js'
import type { Reason } from '../domain/reason.js'
import type { Client } from './client.js'
import { member, textOf } from './read-value.js'

type Account =
  | { readonly ok: true; readonly plan: string; readonly quota: string; readonly notes: readonly string[] }
  | { readonly ok: false; readonly reason: Reason; readonly problem: string; readonly advice: string }

export const checkAccount = async (client: Client): Promise<Account> => {
  const reply = await client.call('user/me', {})
  if (reply.status === 'failure') {
    const { reason, detail } = reply.failure
    return { ok: false, reason, problem: detail, advice: advices[reason] ?? 'Try again later.' }
  }
  const data = member(reply.body, 'data')
  const say = (name: string): string | undefined => textOf(member(data, name), 64)
  const notes = [
    ...noteOf('member since', say('membership_date')),
    ...noteOf('plan since', say('plan_date')),
    ...noteOf('last seen', say('last_access_date')),
    ...(member(data, 'email') === undefined ? [] : ['e-mail: [redacted]']),
    ...(member(data, 'api_key') === undefined ? [] : ['key: [redacted]']),
  ]
  return { ok: true, plan: say('account_type') ?? 'not said', quota: say('max_search') ?? 'not said', notes }
}

const noteOf = (title: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`${title}: ${value}`]

const advices: { readonly [reason in Reason]?: string } = {
  bad_key: 'Check intel.service.apiKey: the service does not know this key.',
  no_credit: 'The account has no credit left, or its plan does not include this call.',
  plan: 'The plan of the account does not include this call; lookups may work all the same.',
  busy: 'Another call of the same account was under way; try again.',
  throttled: 'The service asks for fewer calls; try again later.',
  unavailable:
    'The service cannot be reached, or something else answers in its place: check intel.service.baseUrl, the proxy variables and intel.service.caFile.',
  timeout: 'The service did not answer in time: check intel.service.baseUrl and the proxy variables.',
  bad_answer: 'What answers is not the lookup service: check intel.service.baseUrl and intel.service.paths.',
}

/** For a person, one fact per line. */
export const describeAccount = (account: Account): string =>
  account.ok
    ? [
        `The key works. Plan: ${account.plan}. Quota: ${account.quota}.`,
        ...account.notes.map((note) => `  ${note}`),
        '',
      ].join('\n')
    : `The account cannot be used: ${account.reason} (${printable(account.problem)}).\n  ${account.advice}\n`
