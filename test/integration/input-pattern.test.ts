// Promise: topics that match the pattern are read, also those that appear while running; never one that we write.
import { afterAll, describe, expect, it } from 'vitest'
import {
  fill,
  makeTopic,
  makeTopics,
  originsIn,
  originsOf,
  readTopic,
  settingsFor,
  withAdmin,
  type Names,
} from '../support/kafka.js'
import { endWorkers, startWorker, times, until } from '../support/worker.js'

afterAll(endWorkers)

const alertsOf = (names: Names): string => names.dead.replace('dead', 'alerts')

describe.concurrent.each(['at-least-once', 'exactly-once'] as const)(
  'a pattern that matches every topic, %s',
  (delivery) => {
    it('takes up what appears, survives what vanishes, and leaves alone what we write', async () => {
      const names = await makeTopics({ partitions: 2 })
      const alertsTopic = alertsOf(names)
      const [later, brief] = ['later', 'brief'].map((role) => names.dead.replace('dead', role)) as [string, string]
      await makeTopic(alertsTopic, 1)
      await fill(names.input, 2, 0, 100)
      const worker = startWorker(
        settingsFor(names, {
          delivery,
          alertsTopic,
          input: { topics: [], pattern: `.*-${names.dead.slice('dead-'.length)}` },
          limits: { refreshMs: 500 },
        }),
      )
      await readTopic(names.output, (all) => all.length >= 200)
      await makeTopic(later, 2)
      await fill(later, 2, 0, 100)
      await readTopic(names.output, (all) => all.length >= 400)
      await makeTopic(brief, 1)
      await until('the brief topic is taken up', () => times(worker, 'topics_changed') >= 2)
      await withAdmin((admin) => admin.deleteTopics({ topics: [brief] }))
      await fill(names.input, 2, 100, 200)
      const records = await readTopic(names.output, (all) => all.length >= 600, { calmMs: 2_000 })
      expect(originsOf(records).toSorted()).toEqual(
        [...originsIn(names.input, 2, 200), ...originsIn(later, 2, 100)].toSorted(),
      )
      const changes = worker.events.filter(({ event }) => event === 'topics_changed').map(({ topics }) => topics)
      expect(changes).toEqual([
        [names.input, later],
        [brief, names.input, later],
        [names.input, later],
      ])
      expect(worker.running()).toBe(true)
    })
  },
)

describe.concurrent('a topic that we write, named as input', () => {
  it.each(['output', 'dead', 'alerts'] as const)('is refused at the start: %s', async (role) => {
    const names = await makeTopics({ partitions: 1 })
    const alertsTopic = alertsOf(names)
    await makeTopic(alertsTopic, 1)
    const topic = role === 'alerts' ? alertsTopic : names[role]
    const worker = startWorker(settingsFor(names, { alertsTopic, input: { topics: [names.input, topic] } }))
    expect(await worker.exit).toBe(1)
    expect(worker.events.at(-1)?.sentence).toBe(
      `topic ${topic} is read and written: its events would circulate forever`,
    )
  })
})
