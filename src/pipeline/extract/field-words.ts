// The tables of field names: names known as a whole, and the words that all other names are made of.
import type { Role } from '../../domain/sighting.js'
import { setOf, table } from './characters.js'

/**
 * none: never an indicator.  host: an address or a name.  address: an address; a name there is not trusted.  url: a URL or a part of one.
 * mail: mail addresses, or a user that may be one.  forwarded: the addresses that proxies noted.
 * written: a client's description of itself.  event: an event inside the event.  text: anything.
 */
export type Holds = 'none' | 'host' | 'address' | 'url' | 'mail' | 'forwarded' | 'written' | 'event' | 'text'
export type FieldMeaning = { readonly holds: Holds; readonly role: Role }
const known = (holds: Holds, role: Role = 'other'): FieldMeaning => ({ holds, role })

/** Names whose words alone mislead, without case and separators; `a.b` is b inside a. W3C logs name the ends by a letter and a hyphen. */
export const knownNames = table<FieldMeaning>(
  [
    known('host', 'source'),
    `shost rip raddr ipsaddr ipaddress callingstationid ocip csip oip uip sa sadr srcpc accessdevice.ip request.ip accessip attackip realip cfconnectingip
     yiaddr leasedip leaseip leasedaddress dhcp.assignedip dhcp.assignedaddr dhcp.assignedaddress`,
  ],
  [
    known('host', 'destination'),
    `s-ip r-ip s-supplier-ip dhost lip laddr cdip sdip vip virtualip serviceaddr serviceip responseaddress responseport resolver resolverip resolveraddress da dadr rsip vsip webip`,
  ],
  [known('address', 'destination'), 'i'],
  [known('host', 'translated'), 'gaddr ssip xlatesrc xlatedst natsrc natdst modsrc moddst origdst'],
  [
    known('host', 'observer'),
    `observer.ip agent.ip dvc dvcip dvcipaddr host.ip host.name host.hostname origin originip hostip computer computername logsource source.address2 peergateway tunnelclient nas nasip nasipaddress
     log.source.address messagesourceaddress unithostname orighost nodename fromhost fromhostip gl2remoteip edgeserverip`,
  ],
  [known('host', 'query'), 'request.name requestname servername serverdomain dnsname dnsreq'],
  [
    known('host', 'answer'),
    'queryresults grouped.a grouped.aaaa answers.rrname rrdata dnsresp ip4records ip6records cnamerecords',
  ],
  [known('host', 'url'), 'r-dns requestaddr vhost authority destinationdnsdomain url.registereddomain'],
  [known('host'), 's-dns authdevice.ip tunnelip assignip refid indicator nexthop serverdnscomputername'],
  [
    known('url', 'url'),
    'threatsinfomap.threat csuristem request eurl ereferer url.original url.full httprequest requestcontext httprefererer ref arg',
  ],
  [
    known('mail', 'mail'),
    `from to cc bcc from.address to.address sender replyto suser duser owner login requestfrom requestto responsefrom responseto headerfrom initiatedby alternateid`,
  ],
  [known('forwarded', 'source'), 'sourceips'],
  [known('host', 'claimed'), 'helo ehlo heloname smtphelo'],
  [
    known('written'),
    'useragent useragent.original httpuseragent csuseragent clientrequestuseragent rawuseragent requestuseragent callersupplieduseragent',
  ],
  [known('none', 'source'), 'spt sport cport origp'],
  [known('none', 'destination'), 'dpt dport respp s-port'],
  [
    known('event'),
    'message msg eventoriginal original rawmessage rawevent raw log rawlog syslogmessage fullmessage logmessage textpayload body flowtuples properties eventdata rawdata details',
  ],
  [
    known('none'),
    `version.original process.executable process.commandline event.provider event.kind service group community stream logger
     package image av at agentzoneuri devicezoneuri sourcezoneuri destinationzoneuri originsicname sectionnames sources soapaction schemalocation targetnamespace`,
  ],
)

/** A name that ends in one of these words holds an address. */
export const addressWords = setOf('ip ips ipv4 ipv6 ip4 ip6 addr addrs address addresses ipaddr ipaddress v4 v6')
/** A name that ends in one of these words holds an address or a host name. */
export const hostWords = setOf(
  `${[...addressWords].join(' ')} host hosts hostname hostnames fqdn domain domains h dns machine computer workstation server nameserver relay endpoint
   gateway gw peer node sni cn site asset station netbios realm helo ehlo sip dip`,
)
/** A name that ends in one of these words never holds an indicator, though its value may look like one. */
export const plainWords = setOf(
  `port ports mac zone zones intf interface iface country city region geo location latitude longitude timezone id ids uid uuid guid hash md5 sha1 sha256
   sha512 fingerprint serial sn version versions ver major minor build time times timestamp date datetime ts start end duration bytes count size length type
   types proto protocol transport os platform vendor model product level severity facility rule rules policy policies profile app apps application
   category categories cat signature signatures sid gid code codes file files filename filepath path paths folder directory process processes pid cipher
   ciphers alg algorithm ja3 ja3s ja4 asn flags vlan vrf vdom mask netmask subnet cidr network prefix range ranges ua browser agent role roles class label
   labels tag tags extension mime charset encoding language locale score index sequence session cookie cookies token tokens auth method icmp tcp udp oid
   kex exe dll library module function plugin technique tactic tactics mitre cve license isp nas checksum digest key keys keyid certificate queue thread
   state schema dataset threat attack virus malware software firmware logdesc pattern name regex scheme namespace xmlns scope scopes permission permissions privileges route routes pod container subject issuer dn`,
)
export const userWords = setOf(
  'user users usr username account upn principal actor admin administrator operator guest subscriber customer employee',
)
export const roleWords = table<Role>(
  [
    'source',
    `src source sources clt cli client clients orig originator initiator attacker caller sender remote rem peer requester requestor login rhost saddr sip
     cip c s from offender visitor tx supplicant callee calling viewer principal clnt hacker intruder offending infected compromised originating connecting sending
     requesting faddr actor originated submitter invoker scanner bot suspect clicker click forwarded xff fwd logon signin who rmt foreign far atk
     framed origen origem quelle quell cliente terminal`,
  ],
  [
    'destination',
    `dst dest destination destinations srv svr server servers resp responder target targets victim upstream backend daddr dip local loc to rx
     nexthop tgt trg trgt destn dstn desti called listen listening accessed vserver canary decoy honeypot receiver destino ziel webserver protected receiving accepting`,
  ],
  ['translated', 'nat natted tran xlate xlated translated trans mapped postnat snat dnat'],
  [
    'observer',
    `dvc device dev observer agt sensor firewall fw gateway gw collector forwarder reporter reporting logger mgmt management hypervisor appliance probe
     manager relay exporter shipper beat connector ahost dvchost intermediary sampler exporting agent agents`,
  ],
  ['query', 'query queries queried question questions qname rrname sni requested lookup'],
  ['answer', 'answer answers rdata resolved response responses cname'],
  ['url', 'url urls uri uris referer referrer link href redirect'],
  ['mail', 'mail email emails mailfrom rcpt recipient recipients envelope'],
)

/** All words that may occur in a name without separators (`srcip`, `destinationaddress`): those above, and some without a meaning here. */
const otherWords = setOf(
  `name real effective true public external outside inside internal private original assigned for http conn cs sc web full raw info list desc req
   origin`,
)
export const dictionary: ReadonlySet<string> = new Set(
  [...otherWords, ...hostWords, ...plainWords, ...userWords, ...roleWords.keys()].filter((word) => word.length > 1),
).add('x')
