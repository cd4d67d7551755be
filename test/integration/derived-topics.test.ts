// Promise: with kafka.output.topic alone, dead letters, alerts, corrections, state and verdicts have topics named after it, and a missing one stops nothing.
import { ConfigResourceTypes } from 'kafkajs'
import { expect, inject, it } from 'vitest'
import { client, fill, makeTopics, readTopic, withAdmin } from '../support/kafka.js'
import { runLoaded, startLoaded } from '../support/loaded-program.js'
import { feedFile } from '../support/feed-files.js'

it('runs without them and says so; check makes them as they have to be, and the next start uses them', async () => {
  const names = await makeTopics({ partitions: 2 })
  const env = {
    PATH: process.env.PATH ?? '',
    THREATWEAVE_GATE_DOCUMENTATION: 'true',
    THREATWEAVE_OPS_ENABLED: 'false',
    THREATWEAVE_MEMORY_PATH: 'none',
    THREATWEAVE_LOG_LEVEL: 'info',
    THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
    THREATWEAVE_KAFKA_GROUP_ID: names.groupId,
    THREATWEAVE_KAFKA_INPUT_TOPICS: names.input,
    THREATWEAVE_KAFKA_INPUT_START: 'earliest',
    THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
    THREATWEAVE_FEEDS: JSON.stringify([{ name: 'listed', path: feedFile('192.0.2.7\n') }]),
  }
  const derived = ['dead-letter', 'alerts', 'corrections', 'state', 'verdicts'].map((end) => `${names.output}-${end}`)
  const run = (): { readonly log: () => string; readonly end: () => Promise<number> } => {
    const { stderr, code, stop } = startLoaded(['run'], env)
    let log = ''
    stderr.on('data', (data: Buffer) => (log += data.toString()))
    return {
      log: () => log,
      end: () => {
        stop()
        return code
      },
    }
  }
  const send = async (): Promise<void> => {
    const producer = client().producer()
    await producer.connect()
    const value = 'srcip=10.0.0.5 dstip=192.0.2.7 dstport=443 action=accept'
    await producer.send({ topic: names.input, messages: [{ value }] })
    await producer.disconnect()
  }

  const without = run()
  await fill(names.input, 2, 0, 10)
  await send()
  expect(await readTopic(names.output, (all) => all.length >= 21)).toHaveLength(21)
  expect(await without.end()).toBe(0)
  for (const topic of derived) expect(without.log()).toContain(`topic ${topic} does not exist`)
  expect(without.log().match(/"event":"topic_missing"/g)).toHaveLength(5)

  const made = await runLoaded(['check', '--online', '--create-topics'], { env })
  expect(made.code, made.stderr).toBe(0)
  for (const topic of derived) expect(made.stdout).toContain(`Topic ${topic} was created.`)
  const policies = await withAdmin((admin) =>
    admin.describeConfigs({
      includeSynonyms: false,
      resources: derived.map((name) => ({ type: ConfigResourceTypes.TOPIC, name, configNames: ['cleanup.policy'] })),
    }),
  )
  expect(
    policies.resources.map(({ resourceName, configEntries }) => [resourceName, configEntries[0]?.configValue]),
  ).toEqual(derived.map((name) => [name, name.endsWith('-state') ? 'compact,delete' : 'delete']))

  const withThem = run()
  await send()
  const [alert] = await readTopic(`${names.output}-alerts`, (all) => all.length > 0)
  expect(String(alert?.value)).toContain('192.0.2.7')
  expect(await withThem.end()).toBe(0)
  expect(withThem.log()).not.toContain('topic_missing')
  expect(withThem.log()).toContain(`"alerts":"${names.output}-alerts"`)
})
