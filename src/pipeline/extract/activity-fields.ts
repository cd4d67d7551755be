// Maps a field's name to what its value tells about the kind of event: a login, a request, a query, mail.
import { compact, table } from './characters.js'

/**
 * kind: a word for the kind of event.  event: the event's name.  category: either of them.  description: the event in words.
 * id: a Windows event id.  caller: only a logged-in caller of an API has it.  user: the caller's name.  method, status: of HTTP.
 * signInCode, callError, rpcCode, callStatus, ntStatus: the outcome of a login or a call, as the product's own code.
 * factor: only a second factor has it.  edge: only a proxy in front of a server has it.  mail: only mail has it.
 */
export type ActivityField =
  | 'kind'
  | 'category'
  | 'event'
  | 'description'
  | 'id'
  | 'caller'
  | 'user'
  | 'method'
  | 'status'
  | 'signInCode'
  | 'callError'
  | 'rpcCode'
  | 'callStatus'
  | 'ntStatus'
  | 'factor'
  | 'edge'
  | 'mail'

/** Names without case and separators; `a.b` is b inside a. */
const names = table<ActivityField>(
  ['kind', 'path apiversion kind event.dataset'],
  ['category', 'category eventcategory eventtype'],
  [
    'event',
    'action event operation operationname eventname eventsubname activityname displaymessage logdesc type result',
  ],
  ['description', 'description'],
  ['id', 'eventid eventcode event.code'],
  [
    'caller',
    `useridentity.type authenticationinfo.principalemail calleripaddress actorip actoripaddress auth.displayname saslusername
     clientappused workload`,
  ],
  ['user', 'user.username'],
  ['method', 'method requestmethod httpmethod csmethod request.method clientrequestmethod httprequestmethod'],
  [
    'status',
    `status statuscode httpstatus scstatus responsestatus response.statuscode responsecode elbstatuscode httpstatuscode
     httpresponsecode httpcode`,
  ],
  ['signInCode', 'resulttype status.errorcode'],
  ['callError', 'errorcode'],
  ['rpcCode', 'status.code'],
  ['callStatus', 'responsestatus.code'],
  ['ntStatus', 'substatus'],
  ['factor', 'factor'],
  ['edge', 'edgeresponsestatus edgestarttimestamp'],
  [
    'mail',
    'fromaddress sender recipient mailfrom envelopefrom rcptto messageid headerfrom from.address to.address email.from.address email.to.address',
  ],
)

/** Tries the last two names of the path, then the last one. */
export const activityFieldOf = (segments: readonly string[]): ActivityField | undefined => {
  const last = compact(segments.at(-1) ?? '')
  return names.get(`${compact(segments.at(-2) ?? '')}.${last}`) ?? names.get(last)
}
