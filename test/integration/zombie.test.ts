// Promise: a worker that slept past its session and wakes up changes nothing.
import { afterAll, describe, expect, it } from 'vitest'
import {
  client,
  committed,
  complete,
  fill,
  makeTopic,
  makeTopics,
  readAmongAborted,
  readTopic,
  report,
  soak,
  tally,
  type Names,
  type Read,
} from '../support/kafka.js'
import { limitsEnv } from '../support/limits.js'
import {
  alertedOrigins,
  endWorkers,
  originsListed,
  startProgram,
  times,
  until,
  type Worker,
} from '../support/worker.js'

afterAll(endWorkers)

const partitions = 2
const rounds = soak ? 10 : 1

type Start = (mark: 'zombie' | 'owner') => Worker

/** A worker stopped while its transaction is open, and another that has taken over both partitions. */
const takeOver = async (names: Names, half: number, start: Start): Promise<{ zombie: Worker; owner: Worker }> => {
  await fill(names.input, partitions, 0, half)
  const reader = client().consumer({ groupId: `${names.groupId}-dirty`, readUncommitted: true, maxWaitTimeInMs: 50 })
  await reader.connect()
  await reader.subscribe({ topic: names.output, fromBeginning: true })
  let written = 0
  await reader.run({
    eachMessage: () => {
      written++
      return Promise.resolve()
    },
  })
  const zombie = start('zombie')
  await until('the transaction shows to those who read uncommitted', () => written > 0)
  zombie.kill('SIGSTOP')
  await reader.disconnect()
  expect((await committed(names)).filter((offset) => offset > 0)).toEqual([])
  const owner = start('owner')
  await until('the owner claims both partitions', () => times(owner, 'partition_claimed') >= partitions)
  return { zombie, owner }
}

/** The program's annotation is named after who made it. */
const markOf = ({ value }: Read): string | undefined =>
  ['zombie', 'owner'].find((mark) => Object.hasOwn(JSON.parse(value?.toString() ?? '{}') as object, mark))

describe('a worker that was stopped in the middle of a transaction and continued after its session', () => {
  it(
    'shows nothing of it to read_committed, and the owner keeps its producers: the program, with rules on',
    { timeout: 900_000 * rounds },
    async () => {
      const half = 1_000
      for (let round = 0; round < rounds; round++) {
        const made = await makeTopics({ partitions })
        const names = { ...made, alerts: `${made.output}-alerts` }
        await makeTopic(names.alerts, 1)
        // Two events a request, so that a transaction stays open for hundreds of them.
        const { zombie, owner } = await takeOver(names, half, (mark) =>
          startProgram(names, {
            THREATWEAVE_OUTPUT_KEY: mark,
            ...limitsEnv({ kafka: { chunkEvents: 2 } }),
          }),
        )
        const first = await readTopic(names.output, complete(partitions, half))
        zombie.kill('SIGCONT')
        await until('the sleeper joins again', () => times(zombie, 'group_joined') >= 2)
        // Until here the sleeper had no right to write, and afterwards there was nothing left to write.
        const marks = [...first, ...(await readTopic(names.output, complete(partitions, half)))].map(markOf)
        expect(new Set(marks)).toEqual(new Set(['owner']))
        expect(owner.events.filter(({ event }) => event === 'producer_replaced')).toEqual([])
        await fill(names.input, partitions, half, 2 * half)
        const records = await readTopic(names.output, complete(partitions, 2 * half), { calmMs: 1_000 })
        const found = tally(records, partitions, 2 * half)
        report('a sleeper wakes beside an idle owner', { round, events: partitions * 2 * half, ...found })
        expect(found).toEqual({ missing: 0, repeated: 0, outOfOrder: 0 })
        const expected = originsListed(names.input, partitions, 2 * half)
        const alerts = await readAmongAborted(names.alerts, (all) => all.length >= expected.length)
        expect(alertedOrigins(alerts)).toEqual(expected)
      }
    },
  )
})
