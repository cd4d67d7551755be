// A day of scans raises few alerts that are worth nothing, and every attack among them at its level.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ruleLevels, type RuleLevel } from '../../../src/alerts/sigma/rule.js'
import { dayOfScans, type DayShape } from '../../support/day-of-scans.js'
import { openDetection } from '../../support/detection.js'
import { folder } from '../../support/feed-files.js'

const severity = (level: RuleLevel): number => ruleLevels.indexOf(level)

type Outcome = {
  /** Alerts of medium or higher about anything but an attack. */
  readonly worthless: number
  /** Attacks whose worst alert has another level, or that raise none. */
  readonly missed: number
}

/** `atMost` is what we promise. */
const shapes: readonly (DayShape & { readonly name: string; readonly atMost: Outcome })[] = [
  { name: 'listed as scanners', hasCategories: true, hasReplies: false, atMost: { worthless: 20, missed: 0 } },
  { name: 'listed without category', hasCategories: false, hasReplies: false, atMost: { worthless: 20, missed: 0 } },
  { name: 'listed as scanners, with replies', hasCategories: true, hasReplies: true, atMost: { worthless: 20, missed: 0 } },
  { name: 'listed without category, with replies', hasCategories: false, hasReplies: true, atMost: { worthless: 20, missed: 0 } },
] // prettier-ignore

it.each(shapes)('raises few worthless alerts and every attack: $name', async ({ name, atMost, ...shape }) => {
  const day = dayOfScans(shape)
  expect(day.attacks).toHaveLength(60)
  const path = folder()
  const list = (file: string, values: readonly string[], category: string): Readonly<Record<string, unknown>> => {
    writeFileSync(join(path, file), `value,category\n${values.map((one) => `${one},${category}\n`).join('')}`)
    return { name: file, path: join(path, file) }
  }
  const feeds = [
    list('scanners', day.scanners, shape.hasCategories ? 'scanner' : ''),
    list('attackers', [...day.attackers, ...day.names], 'c2'),
  ]
  const detection = await openDetection(feeds)
  onTestFinished(detection.close)
  const { events, alerts } = await detection.detect(day.events.map(({ line }) => line))

  const attackOf = new Map(events.map(({ origin }, place) => [origin, day.events[place]?.attack]))
  const levels = new Map<string, number>()
  const worst = new Map<object, RuleLevel>()
  let worthless = 0
  for (const { level, origin, indicator } of alerts) {
    levels.set(level, (levels.get(level) ?? 0) + 1)
    const attack = attackOf.get(origin)
    if (attack?.indicator !== indicator) {
      if (severity(level) >= severity('medium')) worthless++
    } else if (severity(level) > severity(worst.get(attack) ?? 'informational')) worst.set(attack, level)
  }
  const missed = day.attacks.filter((one) => worst.get(one) !== one.level).length
  const counts = ruleLevels
    .flatMap((level) => (levels.has(level) ? `${levels.get(level) ?? 0} ${level}` : []))
    .join(', ')
  process.stdout.write(
    `${name}: ${events.length} events, alerts: ${counts || 'none'}; ${worthless} of medium or higher that are no attacks, ${missed} of ${day.attacks.length} attacks not at their level\n`,
  )
  expect(worthless).toBeLessThanOrEqual(atMost.worthless)
  expect(missed).toBeLessThanOrEqual(atMost.missed)
})
