// Promise: an answer that arrives after its event was delivered is alerted on once, whoever is killed in between, also if no further event
// arrives.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners } from 'kafkajs'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { root, runCli, type Ran } from '../support/cli.js'
import {
  client,
  committed,
  makeTopic,
  makeTopics,
  readAmongAborted,
  report,
  soak,
  type Names,
} from '../support/kafka.js'
import { startLookupServer, type LookupServer } from '../support/lookup-server.js'
import { alertedOrigins, endWorkers, startProgram, times, until, type Worker } from '../support/worker.js'

afterEach(endWorkers)

const partitions = 2
const perRound = 20
const malicious = '203.0.113.66'

type Topics = Names & { readonly alerts: string; readonly sightings: string }

const check = (names: Topics, ...args: readonly string[]): Promise<Ran> =>
  runCli(['check', '--online', ...args], {
    env: {
      THREATWEAVE_FEEDS: JSON.stringify([{ name: 'sample', path: join(root, 'examples/feeds/sample-feed.csv') }]),
      THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
      THREATWEAVE_KAFKA_INPUT_TOPICS: names.input,
      THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
      THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
      THREATWEAVE_KAFKA_ALERTS_TOPIC: names.alerts,
      THREATWEAVE_KAFKA_SIGHTINGS_TOPIC: names.sightings,
    },
  })

const makeAll = async (): Promise<Topics> => {
  const made = await makeTopics({ partitions })
  const names = { ...made, alerts: `${made.output}-alerts`, sightings: `${made.output}-sightings` }
  expect(await check(names, '--create-topics')).toMatchObject({ code: 0 })
  return names
}

/** Every other event of a round is about the malicious address. */
const send = async (topic: string): Promise<void> => {
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const messages = Array.from({ length: partitions * perRound }, (_, place) => ({
    partition: Math.floor(place / perRound),
    value: JSON.stringify({
      src_ip: place % 2 === 0 ? malicious : '203.0.113.5',
      dest_ip: '10.0.0.5',
      action: 'allowed',
    }),
  }))
  await producer.send({ topic, messages })
  await producer.disconnect()
}

const maliciousOrigins = (topic: string, rounds: number): readonly string[] =>
  Array.from({ length: partitions * rounds * perRound }, (_, place) => place)
    .filter((place) => place % 2 === 0)
    .map((place) => `${topic}/${Math.floor(place / (rounds * perRound))}/${place % (rounds * perRound)}`)
    .toSorted()

const untilCommitted = async (names: Names, rounds: number): Promise<void> => {
  const all = (offsets: readonly number[]): boolean =>
    offsets.length === partitions && offsets.every((offset) => offset >= rounds * perRound)
  while (!all(await committed(names))) await sleep(100)
}

const start = (names: Topics, server: LookupServer): Worker =>
  startProgram(names, {
    THREATWEAVE_KAFKA_DELIVERY: 'exactly-once',
    THREATWEAVE_KAFKA_SIGHTINGS_TOPIC: names.sightings,
    THREATWEAVE_ALERTS_BUNDLED: 'false',
    THREATWEAVE_ENRICH_DEADLINE_MS: '20',
    THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url,
    THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
  })

const alertsOf = async (names: Topics, rounds: number): Promise<readonly string[]> => {
  const expected = maliciousOrigins(names.input, rounds)
  const records = await readAmongAborted(names.alerts, (all) => new Set(alertedOrigins(all)).size >= expected.length, {
    calmMs: 3_000,
  })
  return alertedOrigins(records)
}

describe('late answers', () => {
  it(
    'are alerted on exactly once after a kill with moved offsets, on a topic that receives nothing any more',
    { timeout: 1_200_000 },
    async () => {
      const [kills, zombies] = soak ? [20, 8] : [1, 0]
      const server = await startLookupServer({ malicious: [malicious], delayMs: 2_000 })
      const names = await makeAll()
      let rounds = 0
      for (let kill = 0; kill < kills; kill++) {
        const worker = start(names, server)
        await send(names.input)
        await worker.said('group_joined')
        await untilCommitted(names, ++rounds)
        worker.kill('SIGKILL')
        await worker.exit
      }
      for (let zombie = 0; zombie < zombies; zombie++) {
        const sleeper = start(names, server)
        await send(names.input)
        await sleeper.said('group_joined')
        await untilCommitted(names, ++rounds)
        sleeper.kill('SIGSTOP')
        const owner = start(names, server)
        await until('the owner knows who waits', () => times(owner, 'sightings_restored') >= partitions)
        const joins = times(sleeper, 'group_joined')
        sleeper.kill('SIGCONT')
        await until('the sleeper joins again', () => times(sleeper, 'group_joined') > joins)
        owner.kill('SIGKILL')
        await owner.exit
        sleeper.kill('SIGKILL')
        await sleeper.exit
      }
      // From here on no event arrives.
      start(names, server)
      const alerted = await alertsOf(names, rounds)
      const expected = maliciousOrigins(names.input, rounds)
      const repeated = alerted.length - new Set(alerted).size
      report('late answers', { kills, zombies, expected: expected.length, alerted: alerted.length, repeated })
      expect(alerted).toEqual(expected)
      await server.close()
    },
  )

  it('need a topic that is compacted, or the check refuses it', async () => {
    const made = await makeTopics({ partitions: 1 })
    const names = { ...made, alerts: made.dead, sightings: `${made.output}-sightings` }
    await makeTopic(names.sightings, 1)
    const { code, stdout, stderr } = await check(names)
    expect(code).not.toBe(0)
    expect(stdout + stderr).toContain('has cleanup.policy delete; as the sightings topic it needs compact,delete')
  })
})
