// A text summary of annotated events: verdicts, reasons, worst indicators.
import type { Annotation } from '../domain/annotation.js'
import { levels } from '../domain/finding.js'
import { noAlertWords, rankReasons, type ByReason } from '../domain/no-alert-reason.js'
import { renderTable } from './table.js'

/** Bounds memory, because hostile events could contain any number of indicators. */
const maxIndicators = 10_000

export const createSummary = () => {
  const verdicts = new Map<string, number>()
  const reasons = new Map<string, number>()
  const worst = new Map<string, { readonly annotation: Annotation; events: number }>()
  let events = 0
  return {
    see(annotation: Annotation): void {
      events++
      count(verdicts, annotation.verdict)
      if (annotation.verdict === 'unknown') count(reasons, annotation.reason ?? 'no address or name in the event')
      if (annotation.verdict !== 'malicious' && annotation.verdict !== 'suspicious') return
      const key = `${annotation.type ?? ''}:${annotation.value ?? ''}:${annotation.role ?? ''}`
      const entry = worst.get(key)
      if (entry) entry.events++
      else if (worst.size < maxIndicators) worst.set(key, { annotation, events: 1 })
    },
    /** `withoutAlert`: malicious or suspicious events without an alert; `rows`: length of the indicator table, 0 for none. */
    text(calls: number | undefined, withoutAlert: ByReason = {}, rows = 10): string {
      const parts = [
        `${events} ${events === 1 ? 'event' : 'events'}: ${levels.map((level) => `${verdicts.get(level) ?? 0} ${level}`).join(', ')}\n`,
      ]
      if (reasons.size > 0)
        parts.push(
          `unknown because: ${[...reasons]
            .sort(byCount)
            .map(([reason, n]) => `${reason} ${n}`)
            .join(', ')}\n`,
        )
      if (calls !== undefined) parts.push(`calls to the lookup service: ${calls}\n`)
      const list = [...worst.values()].sort(
        (a, b) => (b.annotation.score ?? 0) - (a.annotation.score ?? 0) || b.events - a.events,
      )
      if (list.length > 0 && rows > 0)
        parts.push(
          '\n',
          renderTable(
            [
              { title: 'events', align: 'right' },
              { title: 'verdict' },
              { title: 'score', align: 'right' },
              { title: 'indicator' },
              { title: 'role' },
              { title: 'why', max: 70 },
            ],
            list
              .slice(0, rows)
              .map(({ annotation, events: seen }) => [
                String(seen),
                annotation.verdict,
                annotation.score === undefined ? '' : String(annotation.score),
                annotation.value ?? '',
                annotation.role ?? '',
                annotation.summary.slice(annotation.summary.indexOf(': ') + 2),
              ]),
          ),
        )
      if (list.length > rows && rows > 0) parts.push(`and ${list.length - rows} more\n`)
      const silent = rankReasons(withoutAlert)
      if (silent.length > 0)
        parts.push(
          '\n',
          ...silent.map(
            ([reason, n]) =>
              `no rule fires because ${noAlertWords[reason]} (${reason}): ${n} ${n === 1 ? 'event' : 'events'}\n`,
          ),
        )
      return parts.join('')
    },
  }
}

const count = (map: Map<string, number>, key: string): void => void map.set(key, (map.get(key) ?? 0) + 1)
const byCount = (a: readonly [string, number], b: readonly [string, number]): number => b[1] - a[1]
