// Shows what the demo came to: an event of every verdict before and after, a summary, and an alert.
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
  io.stdout.write(summary.text(undefined, 12))
}

export const showAlert = (alerts: readonly Buffer[], io: Io): void => {
  const [first] = alerts
  if (!first) return
  const { message, rule, threatweave } = JSON.parse(first.toString()) as Pick<Alert, 'message' | 'rule' | 'threatweave'>
  const { level, peer, origin, count } = threatweave
  io.stdout.write(`\n${alerts.length} alerts on the topic firewall-alerts, the first of them:\n`)
  io.stdout.write(`  ${printable(message)}\n  ${JSON.stringify({ rule: rule.name, level, peer, origin, count })}\n`)
}
