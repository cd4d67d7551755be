// Decides from a flow record whether the connection was made, whether the record is the reply leg, and on which side each end is.
import type { Action, Flow, Side } from '../../domain/sighting.js'
import { nothing, type ActionFound } from './action-text.js'
import { table, words } from './characters.js'
import type { FlowField } from './flow-fields.js'

/**
 * The action for each connection state. Other states are unknown: an unanswered call (`S0`, `new`) may have been stopped or not,
 * `OTH` began before the sensor did, and of `RSTRH` and `SHR` the sensor saw one side.
 */
const states: Readonly<Partial<Record<FlowField, ReadonlyMap<string, Action>>>> = {
  // https://docs.zeek.org/en/master/scripts/base/protocols/conn/main.zeek.html
  connection: table(['allowed', 's1 s2 s3 sf rsto rstr'], ['blocked', 'rej']),
  // https://docs.suricata.io/en/latest/output/eve/eve-json-format.html; `closed` can also be a refused connection.
  state: table(['allowed', 'established bypassed']),
}

const protocols = table<'tcp' | 'udp' | 'icmp' | 'icmp6'>(
  ['tcp', 'tcp 6'],
  ['udp', 'udp 17'],
  ['icmp', 'icmp 1'],
  ['icmp6', 'icmp6 icmpv6 ipv6-icmp 58'],
)
/** Replies, and errors about a packet of the other side. */
const icmpReplies = { icmp: new Set([0, 3, 11, 12, 14, 16, 18]), icmp6: new Set([1, 2, 3, 4, 129]) } as const

const zones = table<Side>(
  [
    'inside',
    'lan trust trusted inside internal intranet dmz corp corporate private server servers user users office guest wlan wifi',
  ],
  ['outside', 'wan untrust untrusted outside external internet public'],
)

/** Ports above 1023 that servers listen on. */
const highServices = new Set(
  words(`1194 1433 1434 1521 1723 2049 2375 2376 3128 3268 3269 3306 3389 3478 5060 5061 5222 5223 5228 5432 5601 5671 5672 5900 5985 5986
    6379 6443 6514 8000 8008 8080 8081 8088 8443 8530 8531 8883 8888 9000 9090 9092 9200 9300 9418 9443 10000 10250 11211 27017`).map(
    Number,
  ),
)
const isService = (port: number): boolean => (port > 0 && port < 1024) || highServices.has(port)
const isClient = (port: number): boolean => port > 1023 && !highServices.has(port)

/** Traffic from a service port to a client port is a reply. */
export const legOfPorts = (source: number, destination: number): 'call' | 'reply' =>
  isService(source) && isClient(destination) ? 'reply' : 'call'

const [fin, syn, rst, ack] = [0x01, 0x02, 0x04, 0x10] as const
/** `18`, `0x12`; Suricata writes bare hexadecimal digits, netfilter writes letters. */
const flagsOf = (text: string, isHex: boolean): number => {
  if (/^(?:0x)?[\da-f]{1,4}$/i.test(text))
    return isHex || text.startsWith('0x') ? Number.parseInt(text, 16) : Number.parseInt(text, 10) || 0
  if (!/^[.UAPRSFEC]{1,8}$/.test(text)) return 0
  return (
    (text.includes('F') ? fin : 0) |
    (text.includes('S') ? syn : 0) |
    (text.includes('R') ? rst : 0) |
    (text.includes('A') ? ack : 0)
  )
}

/** The first protocol in a line is the line's own; a later one may be that of the packet inside an ICMP error. */
const isOfIcmp = (line: string): boolean =>
  (line.includes('icmp') || line.includes('ICMP') || line.includes('Icmp')) &&
  /\b(?:tcp|udp|sctp|(?:ipv6-)?icmp(?:v?6)?)\b/i.exec(line.slice(0, 400))?.[0].toLowerCase().includes('icmp') === true

/** Longer values are ignored. */
export const longestFlowWord = 32

export type FlowFinder = ReturnType<typeof createFlowFinder>

export const createFlowFinder = () => {
  let protocol: 'tcp' | 'udp' | 'icmp' | 'icmp6' | undefined
  let state: Action = 'unknown'
  let saw = ''
  /** Whether the record covers both legs, so that its source is the caller. */
  let isSession = false
  let leg: 'call' | 'reply' | undefined
  let hasHandshake = false
  /** A closed flow may have been refused; a recognised application protocol shows that it carried data. */
  let isClosed = false
  let hasApplication = false
  let flags = 0
  let replyFlags = 0
  let icmpType = -1
  let line: string | undefined
  const isIcmp = (): boolean => protocol === 'icmp' || protocol === 'icmp6'
  let sourceSide: Side | undefined
  let destinationSide: Side | undefined
  let isSeen = false

  /** RST with ACK is the answer of a closed port. Any other ACK follows the handshake, except in its second step, SYN with ACK. */
  const actionOfFlags = (): Action => {
    if (replyFlags > 0) return (replyFlags & syn) !== 0 ? 'allowed' : (replyFlags & rst) !== 0 ? 'blocked' : 'unknown'
    if (flags === (rst | ack)) return 'blocked'
    return (flags & ack) !== 0 && flags !== (syn | ack) ? 'allowed' : 'unknown'
  }

  return {
    /** Forgets the previous event. */
    reset: (): void => {
      line = undefined
      if (!isSeen) return
      isSeen = false
      protocol = undefined
      state = 'unknown'
      saw = ''
      isSession = false
      leg = undefined
      hasHandshake = isClosed = hasApplication = false
      flags = replyFlags = 0
      icmpType = -1
      sourceSide = destinationSide = undefined
    },
    /** `isQuoted`: the value is a JSON string; Suricata writes flags as one, in hexadecimal digits. */
    see: (field: FlowField, name: string, value: string, isQuoted: boolean): void => {
      if (value.length > longestFlowWord) return
      isSeen = true
      const text = value.toLowerCase()
      switch (field) {
        case 'connection':
        case 'state':
          isSession = true
          state = states[field]?.get(text) ?? 'unknown'
          if (state !== 'unknown') saw = value
          isClosed = text === 'closed'
          break
        case 'application':
          hasApplication = text !== '' && text !== 'failed'
          break
        case 'reporter':
          hasHandshake ||= text === 'dest' || text === 'dest_gateway'
          break
        case 'replied':
          isSession ||= /^\d/.test(text)
          break
        case 'leg':
          leg = text === 'to_client' ? 'reply' : text === 'to_server' ? 'call' : leg
          break
        case 'handshake':
          hasHandshake ||= Number(text) > 0
          break
        case 'made':
          hasHandshake ||= /^(?:true|false)$/.test(text)
          break
        case 'protocol':
          protocol = protocols.get(text) ?? protocol
          break
        case 'flags':
          flags = flagsOf(value, isQuoted && name.startsWith('tcp_flags'))
          break
        case 'replyFlags':
          replyFlags = flagsOf(value, true)
          break
        case 'icmpType':
          icmpType = /^\d{1,3}$/.test(text) ? Number(text) : -1
          break
        case 'sourceLocal':
          if (/^(?:true|t)$/.test(text)) sourceSide = 'inside'
          break
        case 'destinationLocal':
          if (/^(?:true|t)$/.test(text)) destinationSide = 'inside'
          break
        case 'sourceZone':
          sourceSide = zones.get(text) ?? sourceSide
          break
        case 'destinationZone':
          destinationSide = zones.get(text) ?? destinationSide
      }
    },
    /** The action by the connection's outcome, used when the product does not log its own action. */
    action: (): ActionFound => {
      const isTcp = protocol === undefined || protocol === 'tcp'
      const ofFlags = isTcp ? actionOfFlags() : 'unknown'
      if (state === 'allowed' || hasHandshake || (isClosed && hasApplication) || ofFlags === 'allowed')
        return { action: 'allowed', rule: 'flow:established', saw }
      if (isTcp && ofFlags === 'blocked') return { action: 'blocked', rule: 'flow:flags', saw }
      if (isTcp && state === 'blocked') return { action: 'blocked', rule: 'flow:state', saw }
      return nothing
    },
    /** A line of text that may name the protocol. */
    seeLine: (text: string): void => {
      line ??= text
    },
    /** Whether the record is ICMP: the fields of its ports hold identifiers, types and codes. */
    isWithoutPorts: (): boolean => (protocol === undefined ? line !== undefined && isOfIcmp(line) : isIcmp()),
    /** `isBlocked`: a blocked packet is no reply. Undefined when the addresses alone decide. */
    result: (sourcePort: number, destinationPort: number, isBlocked: boolean): Flow | undefined => {
      const isReply =
        !isBlocked &&
        (isIcmp()
          ? icmpReplies[protocol as 'icmp' | 'icmp6'].has(icmpType)
          : (leg ?? (isSession || flags === syn ? 'call' : undefined) ?? legOfPorts(sourcePort, destinationPort)) ===
            'reply')
      if (!isReply && sourceSide === undefined && destinationSide === undefined) return undefined
      return { isReply, sourceSide, destinationSide }
    },
  }
}
