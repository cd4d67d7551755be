// Says from a field's name what its value says of the action, next to the indicators in it.
import { compact } from './characters.js'
import { actionName } from './languages.js'

/**
 * action: what was done.  result: the same, said less directly.  flag: a yes or no.  reason: why, which counts where nothing else is said.
 * name: what the event is called, which may tell of a login.  id: a number of an event that the whole world knows.  direction: which way it went, seen from where it was noted.
 * port: of an endpoint; `local` and `remote` tell which of the two began.
 */
export type ActionField = 'action' | 'result' | 'flag' | 'reason' | 'name' | 'id' | 'direction' | Port
export type Port = 'port' | 'localPort' | 'remotePort'

/** By the name without case and separators, the first that matches. What might be done, and how a check went that is not about who came, say nothing. */
const names: readonly (readonly [RegExp, ActionField | undefined])[] = [
  [
    /(?:^f|^re|soap|trans|inter|extr?|infr|default|recommended|suggested|requested|next|expected|possible)action$|(?:spf|dkim|dmarc|arc|cert|tls|ssl|health|scan|http|file|device|agent|threat).*(?:status|result|outcome)$/,
    undefined,
  ],
  [/^lport$|localport$/, 'localPort'],
  [/^[fr]port$|remoteport$/, 'remotePort'],
  [/^(?:[sd]pt|origp|respp)$|port$/, 'port'],
  [/^(?:act|requeststatus|aktion|accion|azione|acao)$|(?:action|actiontaken|decision|disposition|verdict)$/, 'action'],
  [
    /^res$|(?:status|result|outcome|resultsignature|resulttype|eventtype|eventname|eventsubname|blockreason)$/,
    'result',
  ],
  [/^(?:response|event|type|(?:log)?subtype|category|operation(?:name)?)$/, 'result'],
  [
    /^(?:is)?(?:block|(?:block|dropp|deni|reject|allow|permitt|grant|succeed|authenticat)ed|(?:auth)?success(?:ful)?)$/,
    'flag',
  ],
  [/^(?:network|flow|connection|traffic)?direction$/, 'direction'],
  [/^event(?:id|code)$/, 'id'],
  [/^(?:note|msg)$|(?:error|errormessage|reason)$/, 'reason'],
  [/^(?:name|displaymessage|activityname|(?:event)?description|title)$/, 'name'],
]
const bareNames = /^(?:name|value|label|text|description|title|displayname)$/

/** How the sender of a mail was checked, or how a machine is set up. */
const check = /^(?:(?:spf|dkim|dmarc|arc|bimi|authenticationresults?)(?:results?|status)?|compliance|posture)$/

/** By the path's last name; of `outcome.value` by the name before. */
export const actionFieldOf = (segments: readonly string[]): ActionField | undefined => {
  if (actionName(segments.at(-1) ?? '')) return 'action'
  const last = compact(segments.at(-1) ?? '')
  if (segments.slice(-3, -1).some((name) => check.test(compact(name)))) return undefined
  // Deep inside an object a type is that of some part of it.
  if (segments.length > 2 && last === 'type') return undefined
  return (bareNames.test(last) ? saidBy(compact(segments.at(-2) ?? '')) : undefined) ?? saidBy(last)
}

const saidBy = (name: string): ActionField | undefined => names.find(([pattern]) => pattern.test(name))?.[1]
