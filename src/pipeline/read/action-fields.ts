// Which fields tell of an action, and how much what they say counts.
import { ownText } from '../../domain/own-text.js'
import { words } from './words.js'

/** No action, but beside it: the ports of `local` and `remote` tell which of the two began. */
export const portRank = 6

/** Only a reason or an error: it counts where nothing else says anything. */
const reasonRank = 5
/** What the event is called: it may tell that somebody logs in, and how that went, and no more. */
export const nameRank = 7
/** Which way it went, seen from where it was noted: it tells which of `local` and `remote` began. */
export const wayRank = 8
/** A number of an event that the whole world knows by it. */
export const eventIdRank = 9

/** Names without case and separators; the first rank that says something wins. */
const actionFields = new Map<string, number>([
  ...words(
    'action act requeststatus deviceaction dvcaction policyaction fwaction firewallaction disposition verdict blockaction finalaction actiontaken actionresult waction winaction response_action threataction accesscontrolruleaction filteraction decision aktion accion azione acao',
  ).map((name): [string, number] => [name, 1]),
  ...words(
    'utmaction ruleaction securityaction accessaction eventaction actionname sactiont saction sc_filter_result scfilterresult csaction resultaction ruleresult requestaction httpaction dnsaction responseaction logaction outcomeaction enforcementaction',
  ).map((name): [string, number] => [name, 2]),
  ...words(
    'status result response blockreason event eventtype type outcome logsubtype subtype fwruleaction category msg eventname operation operationname',
  ).map((name): [string, number] => [name, 3]),
  ...words('localport remoteport lport fport rport').map((name): [string, number] => [name, portRank]),
  ...words(
    'block blocked dropped denied rejected allowed permitted granted success succeeded issuccess issuccessful successful authenticated isauthenticated',
  ).map((name): [string, number] => [name, 4]),
  ...words('error errormessage reason failurereason').map((name): [string, number] => [name, reasonRank]),
  ...words(
    'displaymessage activityname activity classname eventdescription eventtitle logtype recordtype eventcategory description summary title',
  ).map((name): [string, number] => [name, nameRank]),
  ...words('direction networkdirection flowdirection connectiondirection trafficdirection').map(
    (name): [string, number] => [name, wayRank],
  ),
  ...words('eventid eventcode').map((name): [string, number] => [name, eventIdRank]),
])

const maxRemembered = 2048
const ranks = new Map<string, number>()
const longestName = 200

/** 0 where the field says nothing about an action; 4 for a field that is a yes or no by its name. `path` may be dotted. */
export const actionRank = (path: string): number => {
  const known = ranks.get(path)
  if (known !== undefined) return known
  const rank = rankOf(path)
  if (ranks.size >= maxRemembered) ranks.clear()
  if (path.length < longestName) ranks.set(ownText(path), rank)
  return rank
}

const rankOf = (path: string): number => {
  const segments = path.split('.', 32)
  const last = compact(segments.at(-1) ?? '')
  if (foreignAction.test(segments.at(-1) ?? '')) return 2
  const rank = actionFields.get(last) ?? byEnding(last)
  // `events.name`, `outcome.value`: the name of the thing it stands in.
  const before = segments.length > 1 && bareNames.has(last) ? compact(segments.at(-2) ?? '') : ''
  if (last === 'code' && segments.at(-2) === 'event') return eventIdRank
  // At the top, the name is the event's own.
  if (rank === 0 && last === 'name' && segments.length === 1) return nameRank
  if (rank > 0 || before === '') return rank
  return before === 'events' ? nameRank : (actionFields.get(before) ?? byEnding(before))
}

const foreignAction = /动作|動作|处置|處置|处理结果|操作结果|조치|アクション|действие|acción|ação/i

const bareNames = new Set(words('name value label text description title displayname'))
const compact = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

const byEnding = (name: string): number => {
  if (/(?:local|remote)port$/.test(name)) return portRank
  if (/(?:action|actiontaken|decision|disposition|verdict)$/.test(name)) return otherAction.test(name) ? 0 : 2
  if (/(?:status|result|outcome|resultsignature|resulttype|eventtype|eventname|eventsubname)$/.test(name))
    return otherResult.test(name) ? 0 : 3
  return /(?:error|reason)$/.test(name) ? reasonRank : 0
}

/** What might be done, or something else altogether. */
const otherAction =
  /^(?:re|f)action$|(?:trans|inter|extr?|infr|default|recommended|suggested|requested|next|expected|possible)action$|(?:fr|extr)action$/
/** How a check went that is not about who came. */
const otherResult =
  /spf|dkim|dmarc|arc|cert|tls|ssl|health|scan|update|compliance|licen[cs]e|http|file|device|agent|threat|malware/
