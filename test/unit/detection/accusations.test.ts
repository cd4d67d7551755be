// What one more accusation, and another order of the indicators, change in the alerts of an event: nothing for the worse.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ruleLevels, type RuleLevel } from '../../../src/alerts/sigma/rule.js'
import { openDetection } from '../../support/detection.js'
import {
  openListedEvents,
  type Accusation,
  type Accusations,
  type ReadEvent,
  type Told,
} from '../../support/listed-events.js'

type Case = {
  readonly name: string
  readonly event: string | Readonly<Record<string, unknown>>
  readonly settings?: Readonly<Record<string, unknown>>
}

const folder = join(import.meta.dirname, '../../cases/detection')
const texts = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml') && file !== 'known-wrong.yaml')
  .flatMap((file) => parse(readFileSync(join(folder, file), 'utf8')) as readonly Case[])
  .filter(({ settings }) => settings === undefined)
  .map(({ event }) => (typeof event === 'string' ? event : JSON.stringify(event)))

const feeds = [{ name: 'malicious', path: join(folder, 'malicious.csv') }]

const categories = ['c2', 'phishing', 'malware', 'scanner', 'brute force', 'spam', 'tor', 'vpn', 'proxy']

const accusation: fc.Arbitrary<Accusation> = fc.record(
  {
    level: fc.constantFrom('malicious', 'malicious', 'suspicious'),
    categories: fc.subarray(categories, { maxLength: 2 }),
    score: fc.integer({ min: 0, max: 100 }),
  },
  { requiredKeys: ['level', 'categories'] },
)

const heightOf = (told: readonly Told[]): number => Math.max(-1, ...told.map(({ level }) => ruleLevels.indexOf(level)))
const worstOf = (told: readonly Told[]): RuleLevel | 'none' => ruleLevels[heightOf(told)] ?? 'none'

let listed: Awaited<ReturnType<typeof openListedEvents>>
let events: readonly ReadEvent[]
beforeAll(async () => {
  listed = await openListedEvents()
  events = texts.map(listed.read).filter(({ values }) => values.length > 0)
})

afterAll(() => listed.close())

/** An event, who is accused in it, and a number to choose by. */
const situation = fc.tuple(fc.nat(), fc.array(fc.array(accusation, { maxLength: 2 }), { maxLength: 6 }), fc.nat())

const situationOf = ([nth, all]: readonly [number, readonly (readonly Accusation[])[], number]) => {
  const event = events[nth % events.length] as ReadEvent
  const accusations: Accusations = Object.fromEntries(event.values.map((value, at) => [value, all[at] ?? []]))
  return { event, accusations }
}

const numRuns = 500

describe('the alerts of an event', () => {
  it('are no milder for one more accusation', () => {
    fc.assert(
      fc.property(situation, accusation, (given, more) => {
        const { event, accusations } = situationOf(given)
        const value = event.values[given[2] % event.values.length] as string
        const before = listed.tell(event, accusations).told
        const after = listed.tell(event, { ...accusations, [value]: [...(accusations[value] ?? []), more] }).told
        if (heightOf(after) >= heightOf(before)) return
        expect.fail(
          `${event.event.text}\n${JSON.stringify(accusations)}\n+ ${value} ${JSON.stringify(more)}\n${worstOf(before)} → ${worstOf(after)}\n${JSON.stringify(before)}\n${JSON.stringify(after)}`,
        )
      }),
      { numRuns, seed: 20_261_115 },
    )
  })

  it('are no milder if some of its accusations come late', () => {
    fc.assert(
      fc.property(situation, fc.array(fc.nat({ max: 2 }), { minLength: 6, maxLength: 6 }), (given, known) => {
        const { event, accusations } = situationOf(given)
        /** Of each indicator so many accusers answer in time, and one more the second time. */
        const after = (more: number): Accusations =>
          Object.fromEntries(
            Object.entries(accusations).map(([value, all], at) => [value, all.slice(0, (known[at] ?? 0) + more)]),
          )
        const atOnce = listed.tell(event, accusations).told
        const late = listed.tellLate(event, [after(0), after(1), accusations])
        expect(heightOf(late), `${event.event.text}\n${JSON.stringify([accusations, known])}`).toBeGreaterThanOrEqual(
          heightOf(atOnce),
        )
        // Nor is anything told twice.
        expect(new Set(inOrder(late)).size, event.event.text).toBe(late.length)
      }),
      { numRuns, seed: 20_261_115 },
    )
  })

  it('are those of its lines alone, where several events are one record', async () => {
    const detection = await openDetection(feeds)
    const lines = texts.filter((text) => text.startsWith('{')).map((text) => JSON.stringify(JSON.parse(text)))
    const raised = async (records: readonly string[]): Promise<readonly string[]> => {
      await detection.forget()
      const { alerts } = await detection.detect(records)
      return alerts.map(({ rule, level, indicator }) => `${level} ${rule} ${indicator}`)
    }
    const records = Array.from({ length: Math.ceil(lines.length / 7) }, (_, nth) => lines.slice(nth * 7, nth * 7 + 7))
    const alone = await raised(lines)
    expect(alone.length).toBeGreaterThan(15)
    expect(await raised(records.map((members) => `[${members.join(',')}]`))).toEqual(alone)
    await detection.close()
  })

  it('are the same in whatever order its indicators and their accusers stand', () => {
    fc.assert(
      fc.property(situation, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (given, numbers) => {
        const { event, accusations } = situationOf(given)
        const { sightings } = event.extraction
        const order = sightings
          .map((one) => ({ one, key: Number(numbers.next().value) }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ one }) => one)
        const turned = Object.fromEntries(Object.entries(accusations).map(([value, all]) => [value, all.toReversed()]))
        const before = listed.tell(event, accusations)
        const after = listed.tell({ ...event, extraction: { ...event.extraction, sightings: order } }, turned)
        // The first of two sources is the source: that is how an event is read, not how it is judged.
        fc.pre(before.direction === after.direction)
        expect(inOrder(after.told), event.event.text).toEqual(inOrder(before.told))
      }),
      { numRuns, seed: 20_261_115 },
    )
  })
})

const inOrder = (told: readonly Told[]): readonly string[] => told.map((one) => JSON.stringify(one)).toSorted()
