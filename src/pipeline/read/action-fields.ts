// Says from a field's name what its value says of the action, beside the indicators in it.
import { compact, table, words } from './characters.js'
import { actionName } from './languages.js'

/**
 * action: what was done.  result: the same, said less directly.  flag: a yes or no.  reason: why, which counts where nothing else is said.
 * name: what the event is called, which may tell of a login.  id: a number of an event that the whole world knows.  direction: which way it went, seen from where it was noted.
 * port: of an endpoint; `local` and `remote` tell which of the two began.
 */
export type Says = 'action' | 'result' | 'flag' | 'reason' | 'name' | 'id' | 'direction' | Port
export type Port = 'port' | 'localPort' | 'remotePort'

const saying = table<Says>(
  ['action', 'act requeststatus scfilterresult aktion accion azione acao'],
  ['result', 'response blockreason event type logsubtype subtype category msg operation operationname'],
  ['name', 'name events.name displaymessage activityname description eventdescription title'],
  [
    'flag',
    `block blocked dropped denied rejected allowed permitted granted success succeeded issuccess issuccessful successful authenticated
     isauthenticated`,
  ],
  ['direction', 'direction networkdirection flowdirection connectiondirection trafficdirection'],
  ['id', 'eventid eventcode event.code'],
  ['localPort', 'lport'],
  ['remotePort', 'fport rport'],
  ['port', 'spt dpt origp respp'],
)
/** By how the name ends, the first that matches. What might be done, and how a check went that is not about who came, say nothing. */
const endings: readonly (readonly [RegExp, Says | undefined])[] = [
  [
    /(?:^f|^re|trans|inter|extr?|infr|default|recommended|suggested|requested|next|expected|possible)action$/,
    undefined,
  ],
  [
    /(?:spf|dkim|dmarc|arc|cert|tls|ssl|health|scan|update|compliance|http|file|device|agent|threat|malware).*(?:status|result|outcome)$/,
    undefined,
  ],
  [/localport$/, 'localPort'],
  [/remoteport$/, 'remotePort'],
  [/port$/, 'port'],
  [/(?:action|actiontaken|decision|disposition|verdict)$/, 'action'],
  [/(?:status|result|outcome|resultsignature|resulttype|eventtype|eventname|eventsubname)$/, 'result'],
  [/(?:error|errormessage|reason)$/, 'reason'],
]
const bareNames = new Set(words('name value label text description title displayname'))

/** By the path's last name; of `events.name`, `outcome.value` by the name before. */
export const saysOf = (segments: readonly string[]): Says | undefined => {
  if (actionName(segments.at(-1) ?? '')) return 'action'
  const last = compact(segments.at(-1) ?? '')
  const before = compact(segments.at(-2) ?? '')
  return saying.get(`${before}.${last}`) ?? saidBy(last) ?? (bareNames.has(last) ? saidBy(before) : undefined)
}

const saidBy = (name: string): Says | undefined =>
  saying.get(name) ?? endings.find(([ending]) => ending.test(name))?.[1]
