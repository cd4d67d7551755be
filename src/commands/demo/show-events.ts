// Shows what the demo came to: an event of every verdict before and after, a summary, an alert, and what can be tried next.
import type { Alert } from '../../alerts/alert.js'
import { printable } from '../../domain/control-characters.js'
import type { Annotation } from '../../domain/annotation.js'
import { levels } from '../../domain/finding.js'
import type { Io } from '../../terminal/command.js'
import { createSummary } from '../../terminal/summary.js'

export const showEvents = (events: readonly Buffer[], io: Io): void => {
  const summary = createSummary()
  const annotated = events.map((bytes) => JSON.parse(bytes.toString()) as { message?: string; threatweave: Annotation })
  for (const level of levels) {
    const sample = annotated.find(({ message, threatweave }) => message !== undefined && threatweave.verdict === level)
    if (!sample) continue
    const { status, verdict, score, value, role, direction, action, reason, summary: why } = sample.threatweave
    io.stdout.write(`\n  before  ${printable(sample.message ?? '').slice(0, 150)}…\n`)
    io.stdout.write(
      `  after   the same plus "threatweave":${JSON.stringify({ status, verdict, score, value, role, direction, action, reason, summary: why })}\n`,
    )
  }
  io.stdout.write('\n')
  for (const { threatweave } of annotated) summary.see(threatweave)
  io.stdout.write(summary.text(undefined, {}, 12))
  const words = new Set(annotated.flatMap(({ threatweave }) => [threatweave.status, threatweave.reason ?? '']))
  const said = meanings
    .filter(([word]) => words.has(word))
    .map(([word, meaning]) => `  ${word.padEnd(11)} ${meaning}\n`)
  if (said.length > 0) io.stdout.write(`\nWhat some of these words mean here:\n${said.join('')}`)
}

/** Words that look like a fault to who sees them for the first time. */
const meanings: readonly (readonly [word: string, meaning: string])[] = [
  [
    'no_verdict',
    'the sample data knows the address, and nothing that accuses or clears it: it is unknown, never called clean',
  ],
  [
    'pending',
    'with the empty memory of the start the answer came after the deadline; the next event of the same address has it',
  ],
  ['partial', 'the event left before every answer was there; what comes later is told by a late alert or a correction'],
]

export const showAlert = (alerts: readonly Buffer[], io: Io): void => {
  const [first] = alerts
  if (!first) return
  const { message, rule, threatweave } = JSON.parse(first.toString()) as Pick<Alert, 'message' | 'rule' | 'threatweave'>
  const { level, peer, origin, count } = threatweave
  io.stdout.write(`\n${alerts.length} alerts on the topic firewall-alerts, the first of them:\n`)
  io.stdout.write(`  ${printable(message)}\n  ${JSON.stringify({ rule: rule.name, level, peer, origin, count })}\n`)
}

/** For a shell, where it has anything but plain signs. */
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)

/** What can be done while it is kept, to be pasted into another terminal. */
export const keptText = (page: string, program: string, brokers: string): string => `
Status page: ${page}
In another terminal:
  export THREATWEAVE_KAFKA_BROKERS=${brokers} THREATWEAVE_KAFKA_OUTPUT_TOPIC=firewall-annotated
  node ${quoted(program)} tail --from earliest --verdict malicious,suspicious
  node ${quoted(program)} explain firewall-annotated/0/0
Ctrl-C stops and removes everything.
`
