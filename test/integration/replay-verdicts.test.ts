// Promise: a replay says what it changes, spends what it may, and brings back what was set aside.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { Partitioners } from 'kafkajs'
import type { Alert } from '../../src/alerts/alert.js'
import { openJournal } from '../../src/lookup/memory/journal.js'
import { indicators } from '../../src/lookup/question.js'
import { expectValidAnnotation } from '../support/annotation-schema.js'
import { client, makeTopics, readTopic, type Names } from '../support/kafka.js'
import { startLookupServer, type LookupServer } from '../support/lookup-server.js'
import { addressOf, bodyOf, expectValidSummary, fillTimed, replayed, runReplay } from '../support/replay.js'

const start = Date.parse('2026-11-02T00:00:00Z')
const partitions = 2
const count = 600
const all = (topic: string): string[] => ['--topic', topic, '--from', 'earliest', '--to', 'now']
let server: LookupServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const filled = async (): Promise<Names> => {
  const forever = { 'retention.ms': '-1' }
  const names = await makeTopics({ partitions, config: { input: forever, output: forever } })
  await fillTimed(names.input, partitions, count, start, 1000)
  return names
}

describe('a feed entry added after the first pass', () => {
  it('changes exactly the events that name it, and raises exactly their alerts', { timeout: 900_000 }, async () => {
    const names = await filled()
    const first = { names, feed: [addressOf(3)] }
    const second = { names, feed: [addressOf(3), addressOf(11)] }
    await replayed(first, [...all(names.input), '--output', names.output, '--into-live', '--alerts', 'none'])
    const named = Array.from({ length: count }, (_, seq) => seq).filter((seq) => addressOf(seq) === addressOf(11))
    const changed = named.length * partitions
    const expected = {
      complete: true,
      events: partitions * count,
      compared: partitions * count,
      changed,
      changes: [{ from: 'unknown', to: 'malicious', events: changed }],
      // One a partition, for each has a host of its own: the rest of the hour is counted, not said again.
      alerts: partitions,
      alerts_new: partitions,
    }
    const against = await replayed(second, [...all(names.input), '--against', names.output, '--id', 'raw'])
    expect(against).toMatchObject(expected)
    const again = await replayed(second, [...all(names.output), '--id', 'annotated'])
    expect(again).toMatchObject({ ...expected, input: 'annotated' })
    for (const summary of [against, again]) {
      const alerts = await readTopic(summary.alerts_output!, (records) => records.length >= partitions)
      const bodies = alerts.map(({ value }) => JSON.parse(value!.toString()) as Alert)
      expect(bodies.map(({ threatweave }) => threatweave.origin).toSorted()).toEqual([
        `${names.input}/0/${named[0]!}`,
        `${names.input}/1/${named[0]!}`,
      ])
      expect(bodies.map(({ threatweave }) => threatweave.replay_id)).toEqual([summary.replay_id, summary.replay_id])
    }
    const records = await readTopic(again.output, (found) => found.length >= partitions * count)
    const bodies = records.map(bodyOf)
    expect(
      bodies.filter(
        ({ seq, partition, threatweave }) => threatweave.enrichment_id !== `${names.input}/${partition}/${seq}`,
      ),
    ).toEqual([])
    expect(bodies.filter(({ threatweave }) => 'replaced' in threatweave)).toEqual([])
  })
})

describe('lookups of a replay', () => {
  it('are none, or as many as allowed, and a dry run says how many', { timeout: 900_000 }, async () => {
    const names = await filled()
    server = await startLookupServer()
    const setting = { names, service: server.url }
    const none = await replayed(setting, [...all(names.input), '--lookups', 'none', '--id', 'none'])
    expect(none).toMatchObject({ events: partitions * count, verdicts: { unknown: partitions * count }, lookups: 0 })
    const [record] = await readTopic(none.output, (found) => found.length > 0)
    expect(bodyOf(record!).threatweave).toMatchObject({ reason: 'budget_spent' })
    const dry = await runReplay(setting, [...all(names.input), '--dry-run', '--json', '--id', 'dry'])
    expectValidSummary(JSON.parse(dry.stdout))
    expect(JSON.parse(dry.stdout)).toMatchObject({ dry_run: true, events: partitions * count, expected_lookups: 200 })
    expect(server.asked).toHaveLength(0)
    const admin = client().admin()
    await admin.connect()
    expect(await admin.listTopics()).not.toContain(`${names.input}-replay-dry`)
    await admin.disconnect()
    const some = await replayed(setting, [...all(names.input), '--max-lookups', '50', '--id', 'some'])
    expect(server.asked).toHaveLength(50)
    expect(some.lookups).toBe(50)
    expect([...server.urgencies]).toEqual(['replay'])
  })
})

describe('what a replay without lookups no longer knows', () => {
  it('stands as it was said before, is counted apart and raises no alert', { timeout: 900_000 }, async () => {
    const names = await filled()
    server = await startLookupServer({ malicious: [addressOf(3)] })
    const setting = { names, service: server.url }
    await replayed(setting, [...all(names.input), '--output', names.output, '--into-live', '--alerts', 'none'])
    const calls = server.asked.length
    const events = partitions * count
    const bad = (partitions * count) / 200
    const expected = {
      verdicts: { malicious: bad, suspicious: 0, clean: events - bad, unknown: 0 },
      compared: events,
      former_stands: events,
      changed: 0,
      changes: [],
      alerts: 0,
      lookups: 0,
      top_indicators: [{ type: 'ip', value: addressOf(3), verdict: 'malicious', events: bad }],
    }
    const none = ['--lookups', 'none']
    const against = await replayed(setting, [...all(names.input), '--against', names.output, '--id', 'raw', ...none])
    expect(against).toMatchObject(expected)
    const again = await replayed(setting, [...all(names.output), '--id', 'annotated', ...none])
    expect(again).toMatchObject(expected)
    expect(server.asked).toHaveLength(calls)
    for (const { output } of [against, again]) {
      const records = await readTopic(output, (found) => found.length >= events)
      const annotations = records.map((record) => bodyOf(record).threatweave)
      annotations.forEach(expectValidAnnotation)
      expect(annotations.filter(({ former }) => former === true)).toHaveLength(events)
      expect(annotations.find(({ verdict }) => verdict === 'malicious')).toMatchObject({
        malicious: true,
        value: addressOf(3),
        summary: `${addressOf(3)} is malicious: former verdict, nothing newer is known (budget spent)`,
      })
    }
    // A feed that accuses somebody since then is news.
    const listed = { ...setting, feed: [addressOf(11)] }
    expect(await replayed(listed, [...all(names.output), '--id', 'listed', ...none])).toMatchObject({
      former_stands: events - bad,
      changed: bad,
      changes: [{ from: 'clean', to: 'malicious', events: bad }],
    })
    for (const [allowed, expectedLookups] of [
      [none, 0],
      [['--max-lookups', '7'], 7],
      [[], 200],
    ] as const) {
      const dry = await runReplay(setting, [...all(names.output), '--dry-run', '--json', ...allowed])
      expect(JSON.parse(dry.stdout)).toMatchObject({ expected_lookups: expectedLookups })
    }
  })
})

describe('the memory of the live service', () => {
  it('is read by a replay while its owner uses it, and nothing is written to it', { timeout: 900_000 }, async () => {
    const names = await filled()
    server = await startLookupServer()
    const memory = mkdtempSync(join(tmpdir(), 'live-memory-'))
    const journal = await openJournal({ path: memory, maxBytes: 1_048_576 }, indicators, {
      restore: () => true,
      emit: () => undefined,
    })
    const facts = { flags: { is_malicious: true }, categories: [] }
    await journal.append(
      { type: 'ip', value: addressOf(5) },
      { status: 'known', source: 'service', at: Date.now(), facts },
    )
    const files = (): string[] => readdirSync(memory).map((name) => name + readFileSync(join(memory, name), 'latin1'))
    const before = files()
    const setting = { names, service: server.url, memory }
    const args = [...all(names.input), '--max-lookups', '3']
    expect(await replayed(setting, args)).toMatchObject({ lookups: 3, verdicts: { malicious: 6, clean: 18 } })
    expect(files()).toEqual(before)
    await journal.close()
    rmSync(memory, { recursive: true })
  })
})

describe('dead letters', () => {
  it('come back with key, value and headers, where the command line says', async () => {
    const names = await makeTopics({ partitions, config: { dead: { 'retention.ms': '-1' } } })
    const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    const headers = {
      own: 'kept',
      'threatweave-topic': 'firewall',
      'threatweave-partition': '1',
      'threatweave-offset': '42',
      'threatweave-timestamp': String(start),
      'threatweave-reason': 'too_large',
      'threatweave-time': new Date().toISOString(),
    }
    await producer.send({
      topic: names.dead,
      messages: [
        { key: 'k', value: '{"seq":1,"src_ip":"198.51.100.7"}', headers },
        { key: 'p', value: null, headers: { ...headers, 'threatweave-sha256': 'a'.repeat(64) } },
      ],
    })
    await producer.disconnect()
    const summary = await replayed({ names }, [...all(names.dead), '--output', `${names.output}-back`])
    expect(summary).toMatchObject({ input: 'dead-letter', events: 1, pointers: 1, complete: true })
    const [record, ...more] = await readTopic(summary.output, (found) => found.length > 0)
    expect(more).toEqual([])
    expect(record).toMatchObject({ key: Buffer.from('k'), timestamp: String(start) })
    expect(Object.keys(record!.headers)).toEqual(['own'])
    expect(bodyOf(record!)).toMatchObject({ seq: 1, threatweave: { enrichment_id: 'firewall/1/42' } })
  })
})
