// Promise: a replay that is killed at any instant goes on with the same id, exactly once where that is configured.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import type { Alert } from '../../../src/alerts/alert.js'
import type { describeSummary } from '../../../src/commands/replay/replay-summary.js'
import { makeTopics, readAmongAborted, readTopic, report, soak, tally, withAdmin } from '../../support/kafka.js'
import {
  addressOf,
  endStarted,
  fillTimed,
  replayed,
  sequences,
  startCli,
  through,
  type Setting,
} from '../../support/replay.js'

type ReplaySummary = Parameters<typeof describeSummary>[0]

afterAll(endStarted)

const partitions = 4
/** So many that the last kill still comes before the end where the machine is slow to notice how far it is. */
const count = soak ? 12_000 : 1_000
const kills = soak ? 30 : 2
const rate = soak ? '500' : '100'
const start = Date.parse('2026-11-02T00:00:00Z')

/** Kills a replay at moments nobody chose, each time after it got somewhere, and lets it end at last. */
const killAgainAndAgain = async (): Promise<ReplaySummary> => {
  const names = await makeTopics({ partitions, config: { input: { 'retention.ms': '-1' } } })
  await fillTimed(names.input, partitions, count, start, 10_000)
  const setting: Setting = { names, delivery: 'exactly-once', feed: [addressOf(5), addressOf(105)] }
  const args = ['--topic', names.input, '--from', 'earliest', '--to', 'now', '--id', 'killed']
  return withAdmin(async (admin) => {
    const reached = async (): Promise<number> => {
      const groupId = `${names.groupId}-replay-killed`
      // The first group of a broker has no coordinator at once.
      const [topic] = await admin.fetchOffsets({ groupId, topics: [names.input] }).catch(() => [])
      return (topic?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0)
    }
    for (let kill = 0; kill < kills; kill++) {
      const before = await reached()
      const { child, said, exit } = startCli('replay', setting, [...args, '--rate', rate])
      while ((await reached()) <= before && child.exitCode === null) await sleep(200)
      await sleep(Math.random() * 500)
      if (child.exitCode !== null) throw new Error(`it ended by itself: ${said()}`)
      child.kill('SIGKILL')
      await exit
      expect(await reached()).toBeLessThan(partitions * count)
    }
    // What comes in meanwhile is not in the range, which was resolved once.
    await fillTimed(names.input, partitions, 10, start, 10_000)
    return replayed(setting, args)
  })
}

// At least once, and two at the same time: test/simulation/replay-checks.ts.
describe('a replay that is killed again and again', () => {
  it(
    'exactly once, writes every event once and in order, alerts once, and counts right',
    { timeout: 900_000 },
    async () => {
      const summary = await killAgainAndAgain()
      const records = await readTopic(summary.output, (all) => all.length >= partitions * count, { calmMs: 1_000 })
      const found = tally(records, partitions, count)
      report('exactly-once, replay killed again and again', { kills, events: partitions * count, ...found })
      expect(sequences(records, partitions)).toEqual(Array.from({ length: partitions }, () => through(0, count)))
      const alerts = await readAmongAborted(summary.alerts_output!, (all) => all.length >= summary.alerts, {
        calmMs: 500,
      })
      const ids = alerts.map(({ value }) => (JSON.parse(value!.toString()) as Alert).threatweave.alert_id)
      expect(new Set(ids).size).toBe(ids.length)
      const hours = new Set(
        through(0, count)
          .filter((seq) => [addressOf(5), addressOf(105)].includes(addressOf(seq)))
          .map((seq) => `${addressOf(seq)} ${Math.floor((start + seq * 10_000) / 3_600_000)}`),
      )
      expect(ids).toHaveLength(hours.size * partitions)
      expect(summary).toMatchObject({
        complete: true,
        resumed: true,
        events: partitions * count,
        verdicts: { malicious: Math.ceil(count / 100) * partitions },
        alerts: ids.length,
      })
    },
  )
})
