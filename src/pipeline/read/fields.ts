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
    `origh id.origh txhosts datachannel.origh clientaddr requestedaddr src sip saddr srcip srcaddr cip ipsrc ipsaddr xsrcip shost sourceip clientip cliip h
     rip remip remoteip remoteaddr remotehost rhost raddr ipaddress callingstationid visitorip actorip userip srchost clientipaddress ip4src ip6src
     clientname clientfqdn clienthost clienthostname callerip callerips ocip csip cltsip srcv6 srcv4 srcip6 saddr6 oip origip accessdevice.ip adminip
     adminipaddress adminaddr administratorip operatorip realip attackip accessip usrip cltip sa uip sadr sipaddr loginip logonip reqip rmtaddr rmtip
     foreignip foreignaddr srcpc v4src v6src origen origem fwd forwardedforip request.ip httpxforwardedfor xforwardedfor forwardedfor xff csxforwardedfor
     truecliip trueclientip cfconnectingip xrealip xclientip`,
  ],
  [
    'host',
    'destination',
    `resph id.resph rxhosts datachannel.resph serveraddr dst dest dip daddr dstip dstaddr destip ipdst ipdaddr dhost destinationip serverip lip locip laddr
     rxhost targetip localip dsthost upstreamaddr upstreamip dstname destname destdomain ip4dst ip6dst svrip cdip sdip srvdip dstv6 dstv4 dstip6 daddr6 vip
     virtualip serverrouted serviceaddr serviceip backendaddr da dadr dipaddr v4dst v6dst destino rsip vsip webip webserverip`,
  ],
  [
    'host',
    'translated',
    `transip tranip xlatesrc xlatedst gaddr natsrcip natdstip natsrc natdst natsourceip natdestinationip sourcenatip destnatip nataddr tranipaddr mappedip
     ssip modsrc origdst moddst`,
  ],
  [
    'host',
    'observer',
    `dvc dvchost agt ahost deviceaddress observer.ip observer.hostname observer.name host.ip host.name host.hostname agent.hostname agent.name origin
     originip devname deviceip fwip sensorname hostip dvcip computer logsource deviceexternalip log.source.address source.address2 peergateway tunnelclient
     nas nasip nasipaddress computername unithostname orighost nodename kubernetes.node ahostname fromhost fromhostip beathostname gl2remoteip`,
  ],
  [
    'host',
    'query',
    `qname rrname dnsquestionname questionname question.name query dnsquery dnsquestion queryname requestname request.name sni servername tlssni
     serverdomain dnsname queriedname dnsreq`,
  ],
  [
    'host',
    'answer',
    `answers rdata grouped.a grouped.aaaa grouped.cname grouped.ns grouped.mx answers.data answers.name answers.rrname dns.resolvedip resolvedip rrdata
     dnsresp queryresults ip4records ip6records cnamerecords`,
  ],
  [
    'host',
    'url',
    `host hostname httphost cshost urldomain url.domain domain url.host httphostname requesthost requestaddr vhost virtualhost sitename
     destinationdnsdomain rhostname fqdn urlhost authority xhost domainname url.registereddomain`,
  ],
  [
    'host',
    'other',
    `tunnelip assignip assignedip assignedaddr framedaddr framedip bound.host boundhost refid related.ip related.hosts indicator seen.indicator
     framedipaddress machine workstation ip ips ipaddr ipv4 ipv6 addr address nexthop hop msgsrc threat.indicator.ip serverdnscomputername servertreename
     authdevice.ip`,
  ],
  [
    'url',
    'url',
    `url uri eurl csuri csuristem requesturl request requesturi url.original url.full csurl httpurl httprequest fullurl weburl urlfull link referer
     referrer csreferer httpreferrer httpreferer requestcontext httprefererer refererurl ref reportlink arg rawurl destinationurl ereferer`,
  ],
  [
    'mail',
    'mail',
    `from to cc bcc mailfrom rcptto sender recipient recipients replyto suser duser user username srcuser dstuser email useremail src_user administrator
     userid upn xauthuser unauthuser requestfrom requestto responsefrom responseto login user.name user.email user.id sourceuser destinationuser
     accountname owner initiatedby actor useralt alternateid envelopefrom envelopeto headerfrom xoriginatingemail`,
  ],
  [
    'event',
    'other',
    `message msg eventoriginal event.original original rawmessage rawevent raw log rawlog syslogmessage fullmessage logmessage payloadmessage textpayload
     data_raw body flowtuples`,
  ],
  [
    'subject',
    'other',
    `subject issuer issuerdn subjectdn certsubject issuersubject clientsubject serversubject certclientsubject clientissuer tlssubject`,
  ],
  [
    'none',
    'other',
    `useragent httpuseragent agent ua csuseragent httpagent browser clientapp requestclientapplication app appcat appname apps application applist attack
     attackname signature signatureid ruledescription rulename ruleset rule policyname policyid policy profile profilename category threatname threatid
     virus viruses malware logdesc sn serial serialnumber devid deviceid filename file filepath fname oldfilepath path name service serviceid version av
     unparsedversion software softwareversion clientversion serverversion firmware build tz timezone time date timestamp eventtime ts rt start end art mrt
     devtime atz dtz cat catdt at _cefver cefver agentzoneuri devicezoneuri sourcezoneuri destinationzoneuri categorybehavior categoryoutcome originsicname
     hostkey pfs hostkeyalg macalg kexalg cipheralg compressionalg serveragent clientagent sslcipher tlsversion tlsver version.original aid amac smac dmac
     srcmac dstmac mac mastersrcmac loguid layername layeruuid poluuid ruleuid matchid community zone inzone outzone srczone dstzone srcintf dstintf
     inboundinterface outboundinterface osname osversion relevantdetectionnames trendmicrodsrelevantdetectionnames vpntunnel group groupname dstcountry
     srccountry cookies cookie tag tags labels ecs.version agent.version agent.type agent.id agent.ephemeralid datastream.dataset event.dataset
     event.module event.provider event.kind event.code event.type event.category log.file.path log.offset input.type elasticagent.version package
     process.name process.executable process.commandline rule.name rule.id network.application network.protocol network.transport tls.cipher tls.version
     useragent.original useragent.version threat.technique.name container.image.name image containerid kubernetes.pod kubernetes.namespace stream logger
     loggername class thread srcmacvendor protocol proto scheme pattern regex policyuid desktopname connectinfo sectionnames analyzers matched sources`,
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
  ['port', 'spt dpt sport dport srcport dstport destport sourceport destinationport cport'],
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
