// Takes the syslog header off a line: priority, time, host, program; RFC 5424, RFC 3164 and what devices make of them.

export type Syslog = {
  /** The sender, as the header names it. */
  readonly host?: string
  /** Its address, where the header tells both. */
  readonly address?: string
  readonly program?: string
  /** RFC 5424 message id. */
  readonly id?: string
  /** RFC 5424 structured data, brackets included. */
  readonly structured?: string
  readonly body: string
}

const priority = /^\s*<\d{1,3}> ?/
const modern = /^\d{1,2} (\S{1,64}) (\S{1,255}) (\S{1,128}) (\S{1,128}) (\S{1,64}) ?/
const bsdTime =
  /^(?:\d{1,12}: )?(?:\*|\.)?(?:[A-Z][a-z]{2} {1,2}\d{1,2}(?: {1,2}\d{4})?,? \d{1,2}:\d{2}:\d{2}(?:\.\d{1,9})?(?: (?:\d{4}|[A-Z]{3,4}))?|\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?)(?::? {1,2})/
const hostName = /^(\[?[\w.:<>-]{1,255}\]?)[ :]+ ?(?=\S)/
const programName = /^([\w./()-]{1,64})(?:\[(\d{1,10})\])?:(?: |$)/

export const readSyslog = (text: string): Syslog => {
  const marked = priority.exec(text)
  const rest = marked ? text.slice(marked[0].length) : text
  const five = marked || /^1 \d{4}-/.test(rest) ? modern.exec(rest) : null
  if (five && (five[1] === '-' || /^\d{4}-\d{2}-\d{2}T/.test(five[1] ?? ''))) {
    const after = rest.slice(five[0].length)
    const { structured, body } = structuredData(after)
    return {
      ...(five[2] === '-' ? {} : { host: five[2] ?? '' }),
      ...(five[3] === '-' ? {} : { program: five[3] ?? '' }),
      ...(five[5] === '-' ? {} : { id: five[5] ?? '' }),
      ...(structured === undefined ? {} : { structured }),
      body,
    }
  }
  const time = bsdTime.exec(rest)
  const only = marked && !time ? /^((?:\d{1,3}\.){3}\d{1,3}|[\da-fA-F:]{3,39}) (?=\S)/.exec(rest) : null
  if (only) return { host: only[1] ?? '', ...withProgram(rest.slice(only[0].length)) }
  if (!time) return withProgram(rest)
  // `Jun 22 19:14:37 <local0.info> 192.0.2.1 …`
  const afterTime = rest.slice(time[0].length).replace(/^<[a-z]+\d?\.[a-z]+> /, '')
  // `Jan  8 03:37:09 DENY: IN=…`, `Jul  3 19:10:30 filterlog[72237]: …`: no host.
  const program = programName.exec(afterTime)
  if (program && (program[2] !== undefined || !hostName.test(afterTime))) return withProgram(afterTime)
  if (/^\S+[=(,"]/.test(afterTime)) return withProgram(afterTime)
  const host = hostName.exec(afterTime)
  if (!host) return withProgram(afterTime)
  const sender = (host[1] ?? '').replace(/^\[|(?<!:)[\]:]$/g, '')
  const behind = afterTime.slice(host[0].length)
  // A relay put its own header before the sender's.
  if (behind.startsWith('1 ') && nested.test(behind)) return { host: sender, ...readSyslog(behind) }
  // `ns.example.com 192.0.2.53 named[4711]: …`: the sender's name and its address.
  const address = addressBehind.exec(behind)
  if (address) return { host: sender, address: address[1] ?? '', ...withProgram(behind.slice(address[0].length)) }
  return { host: sender, ...withProgram(behind) }
}

const nested = /^1 \d{4}-\d{2}-\d{2}T\S{1,40} \S/
const addressBehind = /^(\d{1,3}(?:\.\d{1,3}){3}) (?=(?:[\w./()-]{1,64}\[\d{1,10}\]|[a-z][\w./()-]{1,63}): )/

const withProgram = (text: string): Syslog => {
  const program = programName.exec(text)
  return program ? { program: program[1] ?? '', body: text.slice(program[0].length) } : { body: text }
}

/** `-` or `[id key="value" …]…`, then the message. */
const structuredData = (text: string): { structured?: string; body: string } => {
  if (text.startsWith('- ')) return { body: text.slice(2).replace(/^\uFEFF/, '') }
  if (text === '-') return { body: '' }
  if (!text.startsWith('[')) return { body: text }
  let at = 0
  let inQuote = false
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x5c) at++
    else if (code === 0x22) inQuote = !inQuote
    else if (!inQuote && code === 0x5d && text.charCodeAt(at + 1) !== 0x5b) break
  }
  return { structured: text.slice(0, at + 1), body: text.slice(at + 1).trimStart() }
}
