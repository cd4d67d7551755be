// The table of field names: what a field of a well-known name holds, which role its indicators play, and what it says of the action.
import type { Role } from '../../domain/sighting.js'
import { table, words } from './characters.js'

/**
 * none: never an indicator.  host: an address or a name.  address: an address, names are not believed.  url: a URL or a part of one.
 * mail: mail addresses, or a user that may be one.  subject: a certificate's subject.  event: an event inside the event.  text: anything.
 */
export type Holds = 'none' | 'host' | 'address' | 'url' | 'mail' | 'subject' | 'event' | 'text'

type Row = readonly [holds: Holds, role: Role, names: string]

/** Names without case and separators; `a.b` is b inside a. Schemas (ECS, OCSF, ASIM, UDM, CEF, LEEF), Zeek, Suricata, vendors. */
const rows: readonly Row[] = [
  [
    'host',
    'source',
    `origh txhosts requestedaddr ipsaddr xsrcip shost cliip h rip raddr ipaddress callingstationid visitorip actorip clientname callerip callerips ocip
     csip cltsip saddr6 oip accessdevice.ip adminip adminipaddress adminaddr administratorip operatorip realip attackip accessip usrip cltip sa uip sadr
     sipaddr loginip logonip reqip rmtaddr rmtip foreignip foreignaddr srcpc v4src v6src origen origem fwd forwardedforip request.ip httpxforwardedfor
     xforwardedfor forwardedfor csxforwardedfor truecliip cfconnectingip xrealip xclientip`,
  ],
  [
    'host',
    'destination',
    `resph rxhosts ipdaddr dhost lip laddr rxhost destname svrip cdip sdip srvdip daddr6 vip virtualip serverrouted serviceaddr serviceip backendaddr da
     dadr dipaddr v4dst v6dst destino rsip vsip webip webserverip`,
  ],
  [
    'host',
    'translated',
    `tranip xlatesrc xlatedst gaddr natsrc natdst destnatip tranipaddr ssip modsrc origdst moddst`,
  ],
  [
    'host',
    'observer',
    `observer.name host.ip host.name host.hostname agent.name origin originip devname fwip sensorname hostip computer logsource log.source.address
     source.address2 peergateway tunnelclient nas nasip nasipaddress computername unithostname orighost nodename kubernetes.node ahostname fromhost
     fromhostip messagesourceaddress beathostname gl2remoteip`,
  ],
  ['host', 'query', `question.name requestname request.name servername tlssni serverdomain dnsname queriedname dnsreq`],
  [
    'host',
    'answer',
    `grouped.a grouped.aaaa grouped.ns grouped.mx answers.name answers.rrname rrdata dnsresp queryresults ip4records ip6records cnamerecords`,
  ],
  [
    'host',
    'url',
    `host hostname httphost cshost domain httphostname requestaddr vhost virtualhost sitename destinationdnsdomain rhostname fqdn authority xhost
     domainname url.registereddomain`,
  ],
  [
    'host',
    'other',
    `authdevice.ip tunnelip assignip bound.host boundhost refid indicator ip ips ipaddr ipv4 ipv6 addr address nexthop hop msgsrc serverdnscomputername servertreename`,
  ],
  [
    'url',
    'url',
    `eurl csuristem request url.original url.full httprequest fullurl weburl urlfull requestcontext httprefererer ref reportlink arg rawurl ereferer`,
  ],
  [
    'mail',
    'mail',
    `from to cc bcc mailfrom rcptto sender replyto suser duser useremail administrator userid xauthuser unauthuser requestfrom requestto responsefrom
     responseto login user.name user.id accountname owner initiatedby useralt alternateid envelopefrom envelopeto headerfrom xoriginatingemail`,
  ],
  ['none', 'source', 'spt sport cport origp'],
  ['none', 'destination', 'dpt dport respp'],
  [
    'event',
    'other',
    `message msg eventoriginal original rawmessage rawevent raw log rawlog syslogmessage fullmessage logmessage payloadmessage textpayload data_raw body
     flowtuples`,
  ],
  [
    'subject',
    'other',
    `issuerdn subjectdn certsubject issuersubject clientsubject serversubject certclientsubject clientissuer tlssubject`,
  ],
  [
    'none',
    'other',
    `useragent httpuseragent csuseragent httpagent clientapp requestclientapplication appcat appname applist attack attackname signatureid
     ruledescription rulename ruleset policyname policyid profilename threatname threatid virus viruses malware logdesc serialnumber devid deviceid fname
     oldfilepath name service serviceid av software firmware eventtime rt art mrt devtime atz dtz catdt at _cefver cefver agentzoneuri devicezoneuri
     sourcezoneuri destinationzoneuri categorybehavior categoryoutcome originsicname hostkey pfs hostkeyalg macalg kexalg cipheralg compressionalg
     serveragent clientagent sslcipher tlsver version.original aid amac smac dmac mastersrcmac loguid layername layeruuid poluuid ruleuid matchid
     community inzone outzone inboundinterface outboundinterface osname relevantdetectionnames trendmicrodsrelevantdetectionnames vpntunnel group
     groupname agent.ephemeralid event.provider event.kind package process.executable process.commandline network.transport useragent.original image
     containerid kubernetes.pod kubernetes.namespace stream logger loggername srcmacvendor scheme pattern regex policyuid desktopname connectinfo
     sectionnames analyzers matched sources`,
  ],
]

export type Known = { readonly holds: Holds; readonly role: Role }
export const knownFields: ReadonlyMap<string, Known> = new Map(
  rows.flatMap(([holds, role, names]) =>
    words(names).map((name): [string, Known] => [name.replaceAll('_', ''), { holds, role }]),
  ),
)

/** W3C extended logs name the endpoints by a letter: client, server, remote; elsewhere `sip` is the source. */
export const w3cFields = table<Known>(
  [{ holds: 'host', role: 'source' }, 'c-ip c-dns'],
  [{ holds: 'host', role: 'destination' }, 's-ip r-ip s-supplier-ip'],
  [{ holds: 'host', role: 'url' }, 'r-dns'],
  [{ holds: 'host', role: 'other' }, 's-dns'],
  [{ holds: 'none', role: 'destination' }, 's-port'],
)

/**
 * What a field says beside its indicators. action, ruling, result: what was done, the first said most directly.  flag: a yes or no.  reason: why,
 * which counts where nothing else is said.  name: what the event is called.  id: a number of an event that the whole world knows.
 * direction: which way it went, seen from where it was noted.  port: of an endpoint; `local` and `remote` tell which of the two began.
 */
export type Says = 'action' | 'ruling' | 'result' | 'flag' | 'reason' | 'name' | 'id' | 'direction' | Port
export type Port = 'port' | 'localPort' | 'remotePort'

const saying = table<Says>(
  [
    'action',
    `action act requeststatus deviceaction dvcaction policyaction fwaction firewallaction disposition verdict blockaction finalaction actiontaken
     actionresult waction winaction responseaction threataction accesscontrolruleaction filteraction decision aktion accion azione acao`,
  ],
  [
    'ruling',
    `utmaction ruleaction securityaction accessaction eventaction actionname sactiont saction scfilterresult csaction resultaction ruleresult
     requestaction httpaction dnsaction logaction outcomeaction enforcementaction`,
  ],
  [
    'result',
    `status result response blockreason event eventtype type outcome logsubtype subtype fwruleaction category msg eventname operation
     operationname`,
  ],
  [
    'flag',
    `block blocked dropped denied rejected allowed permitted granted success succeeded issuccess issuccessful successful authenticated
     isauthenticated`,
  ],
  ['reason', 'error errormessage reason failurereason'],
  [
    'name',
    'displaymessage activityname activity classname eventdescription eventtitle logtype recordtype eventcategory description summary title',
  ],
  ['direction', 'direction networkdirection flowdirection connectiondirection trafficdirection'],
  ['id', 'eventid eventcode'],
  ['localPort', 'lport localport'],
  ['remotePort', 'fport rport remoteport'],
  ['port', 'spt dpt sport dport srcport dstport destport sourceport destinationport cport origp respp'],
)

const bareNames = new Set(words('name value label text description title displayname'))
/** What might be done, or something else altogether. */
const otherAction =
  /^(?:re|f)action$|(?:trans|inter|extr?|infr|fr|default|recommended|suggested|requested|next|expected|possible)action$/
/** How a check went that is not about who came. */
const otherResult =
  /spf|dkim|dmarc|arc|cert|tls|ssl|health|scan|update|compliance|licen[cs]e|http|file|device|agent|threat|malware/

export const compact = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** By the path's last name; of `events.name`, `outcome.value` by the name before. */
export const saysOf = (segments: readonly string[]): Says | undefined => {
  const last = compact(segments.at(-1) ?? '')
  const before = compact(segments.at(-2) ?? '')
  if (last === 'code' && before === 'event') return 'id'
  const said = saying.get(last) ?? byEnding(last)
  if (said !== undefined) return said
  if (last === 'name' && (segments.length === 1 || before === 'events')) return 'name'
  return segments.length > 1 && bareNames.has(last) ? (saying.get(before) ?? byEnding(before)) : undefined
}

const byEnding = (name: string): Says | undefined => {
  if (name.endsWith('port'))
    return name.endsWith('localport') ? 'localPort' : name.endsWith('remoteport') ? 'remotePort' : 'port'
  if (/(?:action|actiontaken|decision|disposition|verdict)$/.test(name))
    return otherAction.test(name) ? undefined : 'ruling'
  if (/(?:status|result|outcome|resultsignature|resulttype|eventtype|eventname|eventsubname)$/.test(name))
    return otherResult.test(name) ? undefined : 'result'
  return /(?:error|reason)$/.test(name) ? 'reason' : undefined
}
