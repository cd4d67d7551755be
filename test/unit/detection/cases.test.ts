// What an analyst would expect of every line under test/cases/detection: the worst alert that it raises, or none and why.
import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ruleLevels, type RuleLevel } from '../../../src/alerts/sigma/rule.js'
import { eventsIn } from '../../../src/pipeline/pipeline.js'
import { openDetection, type Detection, type Raised } from '../../support/detection.js'

type Case = {
  readonly name: string
  /** A line, or the object of a line of JSON. */
  readonly event: string | Readonly<Record<string, unknown>>
  readonly settings?: Readonly<Record<string, unknown>>
} & ({ readonly alert: Expected; readonly none?: never } | { readonly none: string; readonly alert?: never })

/** Of several indicators any may be named: they are equally bad. */
type Expected = Omit<Raised, 'indicator'> & { readonly indicator: string | readonly string[] }

const folder = join(import.meta.dirname, '../../cases/detection')
const knownFile = 'known-wrong.yaml'

const read = (file: string): unknown => parse(readFileSync(join(folder, file), 'utf8'))

const cases = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml') && file !== knownFile)
  .flatMap((file) =>
    (read(file) as readonly Case[]).map((one) => ({ ...one, id: `${basename(file, '.yaml')}: ${one.name}` })),
  )
type NamedCase = (typeof cases)[number]

const feeds = [
  { name: 'malicious', path: join(folder, 'malicious.csv') },
  { name: 'suspicious', path: join(folder, 'suspicious.txt'), level: 'suspicious' },
]

const opened = new Map<string, Promise<Detection>>()
afterAll(async () => {
  for (const detection of await Promise.allSettled(opened.values()))
    if (detection.status === 'fulfilled') await detection.value.close()
})
const detectionFor = (settings: Case['settings'] = {}): Promise<Detection> => {
  const key = JSON.stringify(settings)
  const found = opened.get(key) ?? openDetection(feeds, settings)
  opened.set(key, found)
  return found
}

const severity = (level: RuleLevel): number => ruleLevels.indexOf(level)
const inWords = ({ rule, level, indicator }: Expected): string =>
  `${level} ${rule} ${typeof indicator === 'string' ? indicator : indicator.join(' or ')}`
const isSame = (got: Raised, { rule, level, indicator }: Expected): boolean =>
  got.rule === rule && got.level === level && [indicator].flat().includes(got.indicator)

/** What is wrong with a case, in words; undefined if nothing is. */
const wrongWith = async ({ event, settings, alert, none }: NamedCase): Promise<string | undefined> => {
  const detection = await detectionFor(settings).catch((error: unknown) => String(error))
  if (typeof detection === 'string') return detection
  await detection.forget()
  const { alerts, events, withoutAlert } = await detection.detect([
    typeof event === 'string' ? event : JSON.stringify(event),
  ])
  const got = alerts.map(inWords).join(', ') || 'none'
  if (none !== undefined) {
    if (alerts.length > 0) return got
    const isAccused = eventsIn(events).some(({ annotation }) =>
      annotation.indicators.some(({ verdict }) => verdict === 'malicious' || verdict === 'suspicious'),
    )
    const why = Object.keys(withoutAlert).join(', ') || (isAccused ? 'none, although accused' : 'nothing_accused')
    return why === none ? undefined : `none: ${why}`
  }
  const isThere = alerts.some((one) => isSame(one, alert))
  const hasWorse = alerts.some(({ level }) => severity(level) > severity(alert.level))
  const isTwice = new Set(alerts.map(({ indicator }) => indicator)).size < alerts.length
  return isThere && !hasWorse && !isTwice ? undefined : got
}

const expectedOf = ({ alert, none }: NamedCase): string => (alert ? inWords(alert) : `none: ${none}`)

const table = (rows: readonly (readonly string[])[]): string => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

it('has names that tell the cases apart, and one expectation for each', () => {
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
  for (const { id, alert, none } of cases) expect([alert, none].filter(Boolean), id).toHaveLength(1)
})

it('raises for every line the alert that an analyst expects, but for those in known-wrong.yaml', async () => {
  const wrong: { readonly id: string; readonly row: readonly string[] }[] = []
  for (const one of cases) {
    const got = await wrongWith(one)
    if (got !== undefined) wrong.push({ id: one.id, row: [one.id, expectedOf(one), got] })
  }
  const rows = wrong.map(({ row }) => row)
  process.stdout.write(
    `${table([['case', 'expected', 'got'], ...rows])}\n${rows.length} of ${cases.length} are wrong\n`,
  )
  const ids = new Set(wrong.map(({ id }) => id))
  const known = read(knownFile) as readonly string[]
  expect(
    known.filter((id) => !ids.has(id)),
    'right now, so take them out of known-wrong.yaml',
  ).toEqual([])
  expect(
    [...ids].filter((id) => !known.includes(id)),
    'wrong, and not in known-wrong.yaml',
  ).toEqual([])
})
