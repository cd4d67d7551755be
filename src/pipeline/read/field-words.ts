// The words that field names are made of, and what each says about the value.
import type { Role } from '../../domain/sighting.js'
import { table, words } from './characters.js'

const setOf = (list: string): ReadonlySet<string> => new Set(words(list))

/** A value under a name that ends in one of these holds an address. */
export const addressWords = setOf('ip ips ipv4 ipv6 ip4 ip6 addr addrs address addresses ipaddr ipaddress v4 v6')

/** The same for an address or a host name. */
export const hostWords = setOf(
  `ip ipv4 ipv6 ip4 ip6 ips addr addrs address addresses host hosts hostname hostnames fqdn domain domains h ipaddr ipaddress v4 v6 dns machine computer
   workstation server nameserver relay endpoint gateway gw peer node sni cn site asset station netbios realm helo ehlo sip dip`,
)

/** What these names end in is never an indicator. */
export const plainWords = setOf(
  `port ports mac zone zones intf interface iface ifname country city continent region geo location lat lon latitude longitude timezone id ids uid uids
   uuid guid hash md5 sha1 sha256 sha512 imphash fingerprint serial sn version versions ver major minor build time times timestamp date ts tz start end
   duration bytes byte pkts pkt octets count counter cnt num number total size len length type types proto protocol transport os platform vendor model
   product level severity priority facility rule rules policy policies profile app apps application applications category categories cat signature
   signatures sid gid rev code codes file files filename filepath path paths folder dir directory process processes pid ppid cipher ciphers alg algorithm
   curve ja3 ja3s ja4 asn as bandwidth rtt ttl flags flag vlan vrf vd vdom mask netmask subnet cidr network prefix range ranges ua browser agent role
   roles class label labels tag tags extension ext mime charset encoding language locale score risk confidence weight threshold percent rate interval
   index offset sequence seq session tunnelid cookie cookies token tokens csrf auth method verb icmp tcp udp tos dscp window oid oids kex exe dll library
   module function plugin symbol technique tactic tactics mitre cve license edition stratum poll precision delay vin iccid imei imsi isp nas checksum
   digest salt nonce secret pin key keys keyid certificate pem queue worker thread cpu memory disk latency elapsed uptime state tier unit currency amount
   price schema dataset pipeline ephemeral`,
)

export const userWords = setOf('user username account upn principal actor')

export const roleWords = table<Role>(
  [
    'source',
    `src source sources clt cli client clients orig originator initiator attacker caller sender remote rem peer requester requestor login rhost saddr sip
     cip c s from offender visitor tx supplicant callee calling viewer principal clnt hacker intruder offending infected compromised originating connecting
     requesting faddr actor originated submitter submitting invoker scanner bot suspect clicker click forwarded fwd logon signin who rmt foreign far atk
     origen origem quelle quell cliente terminal`,
  ],
  [
    'destination',
    `dst dest destination destinations srv svr server servers resp responder target targets victim upstream backend daddr dip local loc to rx sensorip
     nexthop tgt trg trgt destn dstn desti called listen listening accessed vserver canary decoy honeypot receiver destino ziel webserver protected`,
  ],
  ['translated', 'nat natted tran xlate xlated translated trans mapped postnat snat dnat'],
  [
    'observer',
    `dvc device dev observer agt sensor firewall fw gateway gw collector forwarder reporter reporting logger mgmt management hypervisor appliance probe
     manager relay exporter shipper beat connector ahost dvchost intermediary sampler export exporting agent agents`,
  ],
  ['query', 'query queries queried question questions qname rrname sni requested lookup'],
  ['answer', 'answer answers rdata resolved response responses cname'],
  ['url', 'url urls uri uris referer referrer link href location redirect'],
  ['mail', 'mail email emails mailfrom rcpt recipient recipients envelope'],
)

/** Beside an address, these are who did it: `user_ip`, `actorIpAddress`, `request_ip`. */
export const personWords = setOf(
  'user users usr actor admin administrator operator guest subscriber customer employee request req query question',
)

/** What a client names when it opens a connection. */
export const asksByName = setOf('tls ssl sni handshake requested')

/** Of the words for an endpoint, those whose value is a host even where no word says so: `client=www.example.com`. */
export const endpointWords = setOf(
  `src source sources clt cli client clients clnt orig originator initiator remote rem peer rhost saddr sip cip attacker from dst dest destination
   destinations srv svr server servers resp responder target targets victim upstream backend daddr dip local loc to nexthop tgt vserver called`,
)

/** Every word that may stand in a name without a separator (`srcip`, `destinationaddress`), the longest first. */
export const joinedWords: readonly string[] = words(
  `destination translated originator responder initiator ipaddress hostname attacker resolved question computer observer upstream recipient referrer
   referer response machine gateway device source server client domain remote target sender victim address mapped version country interface orig resp
   peer host addr name ipv4 ipv6 ip4 ip6 user mail dest xlated xlate trans local query fqdn port ipaddr nat src dst rem loc dev dvc url uri ip mac zone
   intf service sni dns real effective true public external outside inside internal private original assigned framed forwarded request http conn cs sc
   attack from to clnt tgt destn`,
).toSorted((a, b) => b.length - a.length)
