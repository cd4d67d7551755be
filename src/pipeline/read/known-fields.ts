// Field names whose meaning their words alone do not tell: the well-known ones of products and schemas.
import type { Role } from '../../domain/sighting.js'
import type { Reads, Rule } from './field-rule.js'

type Row = readonly [reads: Reads, role: Role, names: string]

/** Names without case and separators; `a.b` is b inside a. */
const table: readonly Row[] = [
  // Zeek, Suricata
  ['host', 'source', 'origh id.origh txhosts datachannel.origh clientaddr requestedaddr src'],
  ['host', 'destination', 'resph id.resph rxhosts datachannel.resph serveraddr dst dest'],
  [
    'host',
    'source',
    'sip saddr srcip srcaddr cip ipsrc ipsaddr xsrcip shost sourceip clientip cliip h rip remip remoteip remoteaddr remotehost rhost raddr ipaddress callingstationid visitorip actorip userip srchost clientipaddress ip4src ip6src clientname clientfqdn clienthost clienthostname callerip callerips ocip csip cltsip srcv6 srcv4 srcip6 saddr6 oip origip accessdevice.ip adminip adminipaddress adminaddr administratorip operatorip realip attackip accessip usrip cltip sa uip sadr sipaddr loginip logonip reqip rmtaddr rmtip foreignip foreignaddr srcpc v4src v6src origen origem',
  ],
  [
    'host',
    'destination',
    'dip daddr dstip dstaddr destip ipdst ipdaddr dhost destinationip serverip lip locip laddr rxhost targetip localip dsthost upstreamaddr upstreamip dstname destname destdomain ip4dst ip6dst svrip cdip sdip srvdip dstv6 dstv4 dstip6 daddr6 vip virtualip serverrouted serviceaddr serviceip backendaddr da dadr dipaddr v4dst v6dst destino rsip vsip webip webserverip',
  ],
  [
    'host',
    'source',
    'fwd forwardedforip request.ip httpxforwardedfor xforwardedfor forwardedfor xff csxforwardedfor truecliip trueclientip cfconnectingip xrealip xclientip',
  ],
  [
    'host',
    'translated',
    'transip tranip xlatesrc xlatedst gaddr natsrcip natdstip natsrc natdst natsourceip natdestinationip sourcenatip destnatip nataddr tranipaddr mappedip ssip modsrc origdst moddst',
  ],
  [
    'host',
    'observer',
    'dvc dvchost agt ahost deviceaddress observer.ip observer.hostname observer.name host.ip host.name host.hostname agent.hostname agent.name origin originip devname deviceip fwip sensorname hostip dvcip computer logsource deviceexternalip log.source.address source.address2 peergateway tunnelclient nas nasip nasipaddress computername unithostname orighost nodename kubernetes.node ahostname fromhost fromhostip beathostname gl2remoteip',
  ],
  [
    'host',
    'query',
    'qname rrname dnsquestionname questionname question.name query dnsquery dnsquestion queryname requestname request.name sni servername tlssni serverdomain dnsname queriedname dnsreq',
  ],
  [
    'host',
    'answer',
    'answers rdata grouped.a grouped.aaaa grouped.cname grouped.ns grouped.mx answers.data answers.name answers.rrname dns.resolvedip resolvedip rrdata dnsresp queryresults ip4records ip6records cnamerecords',
  ],
  [
    'host',
    'url',
    'host hostname httphost cshost urldomain url.domain domain url.host httphostname requesthost requestaddr vhost virtualhost sitename destinationdnsdomain rhostname fqdn urlhost authority xhost domainname url.registereddomain',
  ],
  [
    'host',
    'other',
    'tunnelip assignip assignedip assignedaddr framedaddr framedip bound.host boundhost refid related.ip related.hosts indicator seen.indicator framedipaddress machine workstation ip ips ipaddr ipv4 ipv6 addr address nexthop hop msgsrc threat.indicator.ip serverdnscomputername servertreename authdevice.ip',
  ],
  [
    'url',
    'url',
    'url uri eurl csuri csuristem requesturl request requesturi url.original url.full csurl httpurl httprequest fullurl weburl urlfull link referer referrer csreferer httpreferrer httpreferer requestcontext httprefererer refererurl ref reportlink arg rawurl destinationurl ereferer',
  ],
  [
    'mail',
    'mail',
    'from to cc bcc mailfrom rcptto sender recipient recipients replyto suser duser user username srcuser dstuser email useremail src_user administrator userid upn xauthuser unauthuser requestfrom requestto responsefrom responseto login user.name user.email user.id sourceuser destinationuser accountname owner initiatedby actor useralt alternateid envelopefrom envelopeto headerfrom xoriginatingemail',
  ],
  [
    'event',
    'other',
    'message msg eventoriginal event.original original rawmessage rawevent raw log rawlog syslogmessage fullmessage logmessage payloadmessage textpayload data_raw body flowtuples',
  ],
  [
    'subject',
    'other',
    'subject issuer issuerdn subjectdn certsubject issuersubject clientsubject serversubject certclientsubject clientissuer tlssubject',
  ],
  [
    'none',
    'other',
    `useragent httpuseragent agent ua csuseragent httpagent browser clientapp requestclientapplication app appcat appname apps application applist attack attackname
    signature signatureid ruledescription rulename ruleset rule policyname policyid policy profile profilename category threatname threatid virus viruses malware
    logdesc sn serial serialnumber devid deviceid filename file filepath fname oldfilepath path name service serviceid version av unparsedversion software
    softwareversion clientversion serverversion firmware build tz timezone time date timestamp eventtime ts rt start end art mrt devtime
    atz dtz cat catdt at _cefver cefver agentzoneuri devicezoneuri sourcezoneuri destinationzoneuri categorybehavior categoryoutcome originsicname
    hostkey pfs hostkeyalg macalg kexalg cipheralg compressionalg serveragent clientagent sslcipher tlsversion tlsver version.original aid amac smac dmac srcmac dstmac
    mac mastersrcmac loguid layername layeruuid poluuid ruleuid matchid community zone inzone outzone srczone dstzone srcintf dstintf inboundinterface
    outboundinterface osname osversion relevantdetectionnames trendmicrodsrelevantdetectionnames vpntunnel group groupname dstcountry srccountry
    cookies cookie tag tags labels ecs.version agent.version agent.type agent.id agent.ephemeralid datastream.dataset event.dataset event.module event.provider event.kind event.code event.type event.category log.file.path
    log.offset input.type elasticagent.version package process.name process.executable process.commandline rule.name rule.id network.application network.protocol network.transport tls.cipher tls.version useragent.original useragent.version threat.technique.name
    container.image.name image containerid kubernetes.pod kubernetes.namespace stream logger loggername class thread srcmacvendor protocol proto scheme pattern regex policyuid
    desktopname connectinfo sectionnames analyzers matched sources`,
  ],
]

export const knownFields: ReadonlyMap<string, Rule> = new Map(
  table.flatMap(([reads, role, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name): [string, Rule] => [name.replaceAll('_', ''), { reads, role }]),
  ),
)
