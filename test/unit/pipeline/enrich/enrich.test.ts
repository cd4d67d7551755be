import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { Finding } from '../../../../src/domain/finding.js'
import type { Sighting } from '../../../../src/domain/sighting.js'
import { newYear } from '../../../support/clock.js'
import { elapsed, event, never, setUp, words } from '../../../support/enriching.js'
import { clean, known, malicious, unknown } from '../../../support/lookup.js'

describe('enrich', () => {
  it('answers without a promise when everything is known', async () => {
    const { clock, enrich } = setUp()
    const cold = enrich([event(1, 2)], false)
    expect(cold).toBeInstanceOf(Promise)
    await clock.advance(1000)
    const warm = enrich([event(2), event(), event(1)], false)
    expect(warm).not.toBeInstanceOf(Promise)
    expect(words(await warm)).toEqual([['clean'], [], ['clean']])
  })

  it('takes for an event that a spent budget left what others paid for, and asks nobody', async () => {
    const { clock, enrich, start, waits, source } = setUp()
    void enrich([event(1)], false)
    await clock.advance(1000)
    const { judged, open } = start(event(1, 2), waits.none, clock.now(), true)
    expect([words([judged]), open]).toEqual([[['clean', 'budget_spent']], []])
    expect(source.calls).toHaveLength(1)
  })

  it('keeps the order of events and of their sightings, whatever is known when', async () => {
    const { clock, enrich } = setUp((asked) => known(newYear, asked.value.endsWith('2') ? malicious : clean))
    void enrich([event(3)], false)
    await clock.advance(1000)
    const rows = enrich([event(1, 2, 3), event(3), event(2, 1)], false)
    await clock.advance(1000)
    expect(words(await rows)).toEqual([['clean', 'malicious', 'clean'], ['clean'], ['malicious', 'clean']])
  })

  it('asks on behalf of the machine that caused the event', () => {
    const asked: string[] = []
    const { enrich } = setUp(undefined, {
      lookup: ({ value }, { peer = 'nobody' }) => {
        asked.push(`${value} ${peer}`)
        return known(newYear)
      },
    })
    const sighted = (value: string, role: Sighting['role'], type: Sighting['type'] = 'ip'): Sighting => ({
      type,
      value,
      role,
      field: 'f',
      evidence: 'field',
    })
    const sightings = [
      sighted('example.net', 'query', 'domain'),
      sighted('192.0.2.1', 'source'),
      sighted('198.51.100.1', 'destination'),
    ]
    void enrich([{ action: 'allowed', truncated: false, sightings }], true)
    void enrich(
      [{ action: 'allowed', truncated: false, sightings: sightings.filter(({ role }) => role !== 'source') }],
      true,
    )
    expect(asked).toEqual([
      'example.net 192.0.2.1',
      '192.0.2.1 192.0.2.1',
      '198.51.100.1 192.0.2.1',
      'example.net nobody',
      '198.51.100.1 198.51.100.1',
    ])
  })

  it('waits one deadline in all for a chunk, and says deadline of what did not come', async () => {
    const { clock, enrich } = setUp(() => never, { estimateMs: () => 0 })
    const rows = Promise.resolve(
      enrich(
        Array.from({ length: 20 }, (_, nth) => event(nth, nth + 1)),
        false,
      ),
    )
    expect(await elapsed(clock, rows)).toBe(500)
    expect(new Set(words(await rows).flat())).toEqual(new Set(['deadline']))
  })

  it('starts all lookups of a chunk together', async () => {
    const { clock, enrich, source } = setUp(undefined, { tookMs: 400 }, { admission: { inFlight: 8 } })
    const rows = Promise.resolve(
      enrich(
        Array.from({ length: 8 }, (_, nth) => event(nth)),
        false,
      ),
    )
    expect(await elapsed(clock, rows)).toBe(400)
    expect(source.most()).toBe(8)
  })

  it('waits only for what can still come, and says pending of the rest', async () => {
    const { clock, enrich } = setUp(undefined, { tookMs: 100 })
    for (let nth = 1000; nth < 1020; nth++) {
      void enrich([event(nth)], false)
      await clock.advance(1000)
    }
    const rows = Promise.resolve(enrich([event(...Array.from({ length: 20 }, (_, nth) => nth))], false))
    const tookMs = await elapsed(clock, rows)
    expect(tookMs).toBeGreaterThan(200)
    expect(tookMs).toBeLessThanOrEqual(500)
    const row = words(await rows)[0]!
    expect(row.slice(0, 3)).toEqual(['clean', 'clean', 'clean'])
    expect(row.slice(6)).toEqual(Array.from({ length: 14 }, () => 'pending'))
  })

  it.each([
    ['the stream is behind', true, 500],
    ['the deadline is 0', false, 0],
  ])('never waits when %s, and asks nevertheless', async (_title, behind, deadlineMs) => {
    const { clock, enrich } = setUp(undefined, { deadlineMs })
    const rows = enrich([event(1)], behind)
    expect(rows).not.toBeInstanceOf(Promise)
    expect(words(await rows)).toEqual([['pending']])
    await clock.advance(100)
    expect(words(await enrich([event(1)], behind))).toEqual([['clean']])
  })

  it('hands out the late answer to every sighting that left without it, as one promise', async () => {
    const { clock, enrich } = setUp(() => known(newYear, malicious))
    const rows = [...(await enrich([event(1), event(1)], true)), ...(await enrich([event(1)], true))]
    const late = rows.map((row) => row[0]?.late)
    expect(late[0]).toBeInstanceOf(Promise)
    expect(new Set(late).size).toBe(1)
    await clock.advance(100)
    expect(await late[0]).toEqual(known(newYear, malicious))
    expect((await enrich([event(1)], true))[0]?.[0]?.late).toBeUndefined()
  })

  it('waits for every answer when told to be complete', async () => {
    const { clock, enrich } = setUp(undefined, { mode: 'complete', tookMs: 1000 })
    const rows = Promise.resolve(enrich([event(...Array.from({ length: 30 }, (_, nth) => nth))], true))
    expect(await elapsed(clock, rows)).toBe(30_000)
    expect(new Set(words(await rows).flat())).toEqual(new Set(['clean']))
  })

  it('asks again for what found no place in the waiting room when told to be complete', async () => {
    const { clock, enrich, source } = setUp(undefined, { mode: 'complete' }, { admission: { maxWaiting: 7 } })
    const rows = enrich([event(...Array.from({ length: 50 }, (_, nth) => nth))], false)
    await clock.advance(60_000)
    expect(new Set(words(await rows).flat())).toEqual(new Set(['clean']))
    expect(source.calls.length).toBe(50)
  })

  it('gives up completeness when the waiting room stays full', async () => {
    const { clock, enrich } = setUp(undefined, { mode: 'complete', lookup: () => unknown('queue_full') })
    const rows = enrich([event(1)], false)
    await clock.advance(100_000)
    expect(words(await rows)).toEqual([['queue_full']])
  })

  it.each(['at once', 'over a connection'])('repeats a few of what a full queue refuses %s, in turn', async (how) => {
    const places = 1000
    const asked: string[] = []
    let isFull = true
    const answer = (value: string): Finding => {
      asked.push(value)
      return isFull ? unknown('queue_full') : known(newYear)
    }
    const { clock, enrich } = setUp(undefined, {
      mode: 'complete',
      lookup: ({ value }) => (how === 'at once' ? answer(value) : Promise.resolve().then(() => answer(value))),
    })
    const rows = enrich([event(...Array.from({ length: places }, (_, nth) => nth))], false)
    await clock.advance(5_000)
    expect(asked.length - places).toBeLessThan(50 * 20)
    expect(new Set(asked.slice(places)).size).toBeGreaterThan(500) // none has to wait for the same few
    isFull = false
    const before = asked.length
    await clock.advance(1_000)
    expect(new Set(words(await rows).flat())).toEqual(new Set(['clean']))
    expect(asked.length - before).toBe(places)
  })

  it('many chunks that are refused repeat no more than one does, and end soon when they are not wanted any more', async () => {
    const chunks = 60
    let asked = 0
    let goesOn = true
    const lookup = (): Finding => {
      asked++
      return unknown('queue_full')
    }
    const { clock, waits, enrichWith } = setUp(undefined, { lookup })
    const all = Array.from({ length: chunks }, async (_, nth) =>
      enrichWith(
        [event(nth)],
        waits.throughOutages(() => goesOn),
      ),
    )
    await clock.advance(10_000)
    expect(asked).toBeGreaterThan(chunks)
    expect(asked - chunks).toBeLessThan(300)
    goesOn = false
    await clock.advance(200)
    expect(await Promise.all(all)).toEqual(all.map(() => []))
    expect(clock.timers()).toBe(0)
  })

  it('leaves no timer behind', async () => {
    const { clock, enrich } = setUp(undefined, { deadlineMs: 5000 })
    void enrich([event(1, 2, 3)], false)
    await clock.advance(1000)
    expect(clock.timers()).toBe(0)
  })
})

describe('a source in trouble', () => {
  const control = 4095
  const troubles: readonly [string, () => Finding | Promise<Finding>, readonly string[]][] = [
    ['hangs', () => never, ['deadline', 'pending', 'breaker_open', 'cooling_down', 'timeout']],
    ['is down', () => unknown('unavailable'), ['unavailable', 'pending', 'deadline', 'breaker_open', 'cooling_down']],
    ['throttles', () => unknown('throttled'), ['throttled', 'pending', 'deadline']],
    ['rejects', () => Promise.reject(new Error('bug')), ['bad_answer', 'pending', 'deadline', 'cooling_down']],
    ['lies about its type', () => 'clean' as unknown as Finding, ['bad_answer', 'pending', 'deadline', 'cooling_down']],
    ['answers for a bad key', () => unknown('bad_key'), ['bad_key', 'pending', 'deadline']],
    ['has no credit', () => unknown('no_credit'), ['no_credit', 'pending', 'deadline']],
  ]

  it.each(troubles)('that %s lets every event out in order within the deadline', async (_title, trouble, allowed) => {
    let inTrouble = false
    const { clock, enrich } = setUp(() => (inTrouble ? trouble() : known(newYear)), { deadlineMs: 100 })
    void enrich([event(control)], false)
    await clock.advance(100)
    inTrouble = true
    const seen = new Set<string>()
    for (let chunk = 0; chunk < 60; chunk++) {
      const events = Array.from({ length: 10 }, (_, nth) => event((chunk * 10 + nth) % 400, control))
      const rows = Promise.resolve(enrich(events, false))
      expect(await elapsed(clock, rows, 100)).toBeLessThanOrEqual(100)
      const all = await rows
      expect(all.map((row) => row[0]?.sighting)).toEqual(events.map(({ sightings }) => sightings[0]))
      for (const [first, second] of words(all)) {
        seen.add(first!)
        expect(second).toBe('clean')
      }
      await clock.advance(1000)
    }
    expect([...seen].filter((word) => !allowed.includes(word))).toEqual([])
    expect([...seen]).not.toEqual([])
  })
})

describe('half a million events with ever new indicators against a source that hangs', () => {
  it('pass without waiting, with a bounded room and flat memory', async () => {
    const { clock, enrich, admission } = setUp(() => never, {}, { admission: { maxWaiting: 1000 } })
    const counts: Record<string, number> = {}
    const heap: number[] = []
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    for (let chunk = 0; chunk < 500; chunk++) {
      const rows = enrich(
        Array.from({ length: 1000 }, (_, nth) => event(chunk * 1000 + nth)),
        true,
      )
      expect(rows).not.toBeInstanceOf(Promise)
      for (const [word] of words(await rows)) counts[word!] = (counts[word!] ?? 0) + 1
      if (chunk % 20 === 19) {
        collect()
        heap.push(process.memoryUsage().heapUsed)
      }
    }
    await clock.advance(0)
    expect(counts).toEqual({ pending: 1001, queue_full: 498_999 })
    expect(admission.state()).toMatchObject({ waiting: 1000, inFlight: 1 })
    // What was met lately is kept by generations, so the most of many looks is compared: 24 bytes an indicator would show.
    expect(Math.max(...heap.slice(13)) - Math.max(...heap.slice(2, 13))).toBeLessThan(5 * 1024 * 1024)
  })
})
