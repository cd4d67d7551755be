// Maps a field's name to the kind of evidence its value gives about the action taken on an event.
import { compact } from './characters.js'
import { actionName } from './languages.js'

/**
 * action: the action taken.  result: the same, less directly.  flag: a yes or no.  reason: the cause, used when nothing stronger is found.
 * name: the event's name, which may reveal a login.  id: a well-known Windows event id.  direction: as seen by the machine that logged it.
 * port: of an endpoint; `localPort` and `remotePort` show which end began.
 */
export type ActionField = 'action' | 'result' | 'flag' | 'reason' | 'name' | 'id' | 'direction' | Port
export type Port = 'port' | 'localPort' | 'remotePort'

/** Tested on the name without case and separators; the first match wins. Proposed actions and unrelated checks give no evidence. */
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

/** Checks of a mail's sender and of a machine's setup; their results are not actions. */
const check = /^(?:(?:spf|dkim|dmarc|arc|bimi|authenticationresults?)(?:results?|status)?|compliance|posture)$/

/** Reads the last name of the path; for a bare name (`outcome.value`) it tries the name before it first. */
export const actionFieldOf = (segments: readonly string[]): ActionField | undefined => {
  if (actionName(segments.at(-1) ?? '')) return 'action'
  const last = compact(segments.at(-1) ?? '')
  if (segments.slice(-3, -1).some((name) => check.test(compact(name)))) return undefined
  // Deep inside an object, `type` describes a part of it and not the event.
  if (segments.length > 2 && last === 'type') return undefined
  return (bareNames.test(last) ? saidBy(compact(segments.at(-2) ?? '')) : undefined) ?? saidBy(last)
}

const saidBy = (name: string): ActionField | undefined => names.find(([pattern]) => pattern.test(name))?.[1]
