// Strips the syslog header from a line: priority, time, host, program; RFC 5424, RFC 3164 and the variants of devices.

type Syslog = {
  /** The sender, as the header names it. */
  readonly host?: string | undefined
  /** RFC 5424 message id. */
  readonly id?: string | undefined
  /** RFC 5424 structured data, brackets included. */
  readonly structured?: string | undefined
  readonly body: string
}

const priority = /^\s*<\d{1,3}> ?/
const modern =
  /^\d{1,2} (?:-|\d{4}-\d{2}-\d{2}T\S{1,50}) (\S{1,255}) \S{1,128} \S{1,128} (\S{1,64}) ?(?:- ?|(\[(?:[^\]"\\]|\\.|"(?:[^"\\]|\\.)*"|\](?=\[))*\]) ?)?\uFEFF?/s
const time =
  /^(?:\d{1,12}: )?[*.]?(?:[A-Z][a-z]{2} {1,2}\d{1,2}(?: {1,2}\d{4})?,? \d{1,2}:\d{2}:\d{2}(?:\.\d{1,9})?(?: (?:\d{4}|[A-Z]{3,4}))?|\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?):? {1,2}(?:<[a-z]+\d?\.[a-z]+> )?/
const hostName = /^(\[?[\w.:<>-]{1,255}\]?)[ :]+ ?(?=\S)/
/** Some write a severity in the place of the sender, or an action (`2026-11-15 08:00:00 ALLOW TCP …`). */
const severity =
  /^\[?(?:emerg(?:ency)?|alert|crit(?:ical)?|fatal|severe|error|err|warn(?:ing)?|notice|info|debug|trace|verbose)\]?:?$/i
const longestSeverity = 12
const deed = /^(?:ALLOW|ACCEPT|PERMIT|PASS|DROP|DENY|BLOCK|REJECT|OPEN|CLOSE)(?:E?D)?$/
/** Without a time, only an address counts as the sender. */
const hostAddress = /^((?:\d{1,3}\.){3}\d{1,3}|[\da-fA-F:]{3,39}) (?=\S)/
/** The peer of a connection, and not a host that logs. */
const peerWithPort = /^(?:\d{1,3}\.){3}\d{1,3}:\d{2,5}$/
/** The prefix that a container engine puts before each line: `2026-11-15T10:00:00.123456789Z stdout F `. */
const container = /^\d{4}-\d{2}-\d{2}T[\d:.]{8,18}(?:Z|[+-]\d{2}:\d{2}) std(?:out|err) [FP] /
const programName = /^[\w./()-]{1,64}(?:\[\d{1,10}\])?:(?: |$)/

export const readSyslog = (text: string): Syslog => {
  const contained = text.charCodeAt(4) === 0x2d ? container.exec(text) : null
  return contained ? readHeader(text.slice(contained[0].length)) : readHeader(text)
}

const readHeader = (text: string): Syslog => {
  // A blank or `<`.
  const marked = text.charCodeAt(0) <= 0x3c ? priority.exec(text) : null
  const rest = marked ? text.slice(marked[0].length) : text
  const five = marked || rest.startsWith('1 ') ? modern.exec(rest) : null
  if (five) {
    const [host, id, structured] = five.slice(1).map((part?: string) => (part === '-' ? undefined : part))
    return { host, id, structured, body: rest.slice(five[0].length).trimStart() }
  }
  const timed = time.exec(rest)
  const message = rest.slice(timed?.[0].length ?? 0)
  const host = timed ? hostName.exec(message) : marked && hostAddress.exec(message)
  const name = host?.[1] ?? ''
  const isPeer = !marked && name.includes(':') && peerWithPort.test(name)
  if (!host || isPeer || deed.test(name)) return { body: message.replace(programName, '') }
  const body = message.slice(host[0].length).replace(programName, '')
  if (name.length <= longestSeverity && severity.test(name)) return { body }
  return { host: name.replace(/^\[|(?<!:)[\]:]$/g, ''), body }
}
