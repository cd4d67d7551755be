// Maps a field's name to what its value tells about the flow: its state, its replies, the side of the network of each end.
import { compact, table } from './characters.js'

/**
 * connection: Zeek's conn_state.  state: Suricata's state of a flow.  application: the protocol that Suricata recognised in the data.
 * reporter: the end that wrote Google's flow log; an end does not log packets that it refused.
 * replied: bytes or packets of the called side.  leg: the direction of a leg.
 * made: a field of Sysmon, which logs only connections that were made.  handshake: the time a TCP handshake took.
 * flags, replyFlags: the TCP flags of a flow, and those of its other direction.  icmpType: the type of an ICMP message.
 * sourceLocal, destinationLocal: yes or no.  sourceZone, destinationZone: the role of an interface, or a security zone.
 */
export type FlowField =
  | 'connection'
  | 'state'
  | 'application'
  | 'reporter'
  | 'replied'
  | 'leg'
  | 'handshake'
  | 'made'
  | 'protocol'
  | 'flags'
  | 'replyFlags'
  | 'icmpType'
  | 'sourceLocal'
  | 'destinationLocal'
  | 'sourceZone'
  | 'destinationZone'

/** Names without case and separators; `a.b` is b inside a. */
const names = table<FlowField>(
  ['connection', 'connstate connection.state'],
  ['state', 'flow.state'],
  ['application', 'appproto'],
  ['reporter', 'jsonpayload.reporter'],
  [
    'replied',
    `respbytes resppkts respipbytes rcvdbyte rcvdpkt destination.bytes destination.packets bytesfromserver
     packetsfromserver`,
  ],
  ['leg', 'direction'],
  ['handshake', 'rttmsec'],
  ['made', 'initiated'],
  ['protocol', 'proto protocol ipprotocol network.transport network.iananumber protocolid protocolidentifier'],
  ['flags', 'tcpflags tcpflagsts tcpcontrolbits'],
  ['replyFlags', 'tcpflagstc'],
  ['icmpType', 'icmptype icmp.type'],
  ['sourceLocal', 'localorig'],
  ['destinationLocal', 'localresp'],
  ['sourceZone', 'srcintfrole srczone srczonetype sourcezone sourcezonename fromzone inzone ingress.zone'],
  ['destinationZone', 'dstintfrole dstzone dstzonetype destinationzone destinationzonename tozone outzone egress.zone'],
)

/** Tries the last name of the path, then the last two. */
export const flowFieldOf = (segments: readonly string[]): FlowField | undefined => {
  const last = compact(segments.at(-1) ?? '')
  return names.get(last) ?? names.get(`${compact(segments.at(-2) ?? '')}.${last}`)
}
