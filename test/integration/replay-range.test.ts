// Promise: a replay gives exactly the events of its range, in order, and leaves the live service alone.
import { ConfigResourceTypes } from 'kafkajs'
import { describe, expect, it } from 'vitest'
import { client, committed, makeTopics, readTopic, soak } from '../support/kafka.js'
import { addressOf, bodyOf, fillTimed, replayed, runReplay, sequences, through } from '../support/replay.js'

const hourMs = 3_600_000
const start = Date.parse('2026-11-02T00:00:00Z')

describe('a replay of a middle hour', () => {
  it('gives exactly its events, in order, with their times and origins', { timeout: 900_000 }, async () => {
    const partitions = 6
    const count = Math.ceil((soak ? 100_000 : 6_000) / partitions)
    const stepMs = Math.ceil((5 * hourMs) / count)
    const names = await makeTopics({ partitions, config: { input: { 'retention.ms': '-1' } } })
    await fillTimed(names.input, partitions, count, start, stepMs)
    const admin = client().admin()
    await admin.connect()
    await admin.setOffsets({ groupId: names.groupId, topic: names.input, partitions: [{ partition: 0, offset: '17' }] })
    const before = await committed(names)
    const setting = { names, feed: [addressOf(7)] }
    const summary = await replayed(setting, [
      ...['--topic', names.input, '--from', '2026-11-02T02:00:00Z', '--to', '2026-11-02T03:00:00Z', '--id', 'middle'],
    ])
    const first = Math.ceil((2 * hourMs) / stepMs)
    const end = Math.ceil((3 * hourMs) / stepMs)
    const expected = through(first, end)
    const output = `${names.input}-replay-middle`
    const records = await readTopic(output, (all) => all.length >= partitions * expected.length)
    expect(sequences(records, partitions)).toEqual(Array.from({ length: partitions }, () => expected))
    expect(records.filter((record) => bodyOf(record).partition !== record.partition)).toEqual([])
    for (const record of records.slice(0, 50)) {
      const { seq, partition, threatweave } = bodyOf(record)
      expect(record.timestamp).toBe(String(start + seq * stepMs))
      expect(record.key?.toString()).toBe(`${partition}-${seq}`)
      expect(record.headers.own?.toString()).toBe('kept')
      expect(threatweave).toMatchObject({
        replay_id: 'middle',
        enrichment_id: `${names.input}/${partition}/${seq}`,
        verdict: addressOf(seq) === addressOf(7) ? 'malicious' : 'unknown',
      })
    }
    const malicious = expected.filter((seq) => addressOf(seq) === addressOf(7)).length * partitions
    expect(summary).toMatchObject({
      complete: true,
      events: partitions * expected.length,
      verdicts: { malicious, unknown: partitions * expected.length - malicious },
      lookups: 0,
    })
    expect(await committed(names)).toEqual(before)
    const [retention] = (
      await admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: ConfigResourceTypes.TOPIC, name: output, configNames: ['retention.ms'] }],
      })
    ).resources[0]!.configEntries
    expect(retention?.configValue).toBe('-1')
    await admin.disconnect()
  })

  it('is refused where it would be lost, would go round, or was not meant', async () => {
    const config = { input: { 'retention.ms': '-1' }, output: { 'retention.ms': '3600000' } }
    const names = await makeTopics({ partitions: 1, config })
    await fillTimed(names.input, 1, 10, start, 1000)
    const range = ['--topic', names.input, '--from', 'earliest', '--to', 'now']
    const refusal = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await runReplay({ names }, [...range, ...args])
      expect(code).not.toBe(0)
      return stderr
    }
    expect(await refusal('--output', names.output)).toContain('add --into-live to confirm')
    expect(await refusal('--output', names.output, '--into-live')).toContain('keeps records for 1 hours')
    expect(await refusal('--output', names.input)).toContain('must be another topic')
    expect(await refusal('--partition', '4')).toContain('has no partition 4')
  })

  it('only by record time, one partition, or by offsets, where told so', async () => {
    const names = await makeTopics({ partitions: 2, config: { input: { 'retention.ms': '-1' } } })
    await fillTimed(names.input, 2, 20, start, 60_000)
    await fillTimed(names.input, 2, 20, start, 60_000) // the same times again, behind
    const range = ['--topic', names.input, '--from', '2026-11-02T00:05', '--to', 'now']
    expect((await replayed({ names }, range)).events).toBe(2 * 35)
    expect((await replayed({ names }, [...range, '--strict-time'])).events).toBe(2 * 30)
    const one = await replayed({ names }, ['--topic', names.input, '--partition', '1', '--from', '3', '--to', '33'])
    expect(one).toMatchObject({ events: 30, partitions: [{ partition: 1, from: 3, to: 33, position: 33 }] })
  })
})
