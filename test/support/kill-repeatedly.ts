// Kills workers under load at random times and checks the output.
import { setTimeout as sleep } from 'node:timers/promises'
import { committed, complete, fill, readTopic, report, tally, type Names, type Tally } from './kafka.js'
import type { Worker } from './worker.js'

export const partitions = 4

const total = async (names: Names): Promise<number> => (await committed(names)).reduce((sum, offset) => sum + offset, 0)

const failEnded = (worker: Worker): void => {
  if (!worker.running()) throw new Error(`a worker ended by itself: ${worker.errors()}`)
}

/** Waits until the group commits new offsets. */
const commits = async (names: Names, worker: Worker): Promise<void> => {
  const before = await total(names)
  while ((await total(names)) <= before) {
    failEnded(worker)
    await sleep(150)
  }
}

export type Killed = Tally & { /** Of each partition. */ readonly count: number }

/** `start` learns whether the worker is the last one, which is not killed. `begun` is the event of a worker that is processing records. */
export const killRepeatedly = async (
  names: Names,
  kills: number,
  begun: 'group_joined' | 'partition_claimed',
  start: (isLast: boolean) => Worker,
  isMixed = false,
): Promise<Killed> => {
  // Events keep coming until the last kill, so that every killed worker has work in progress or waiting.
  let count = 400
  const stop = new AbortController()
  await fill(names.input, partitions, 0, count, undefined, isMixed)
  const filling = (async () => {
    while (!stop.signal.aborted) {
      await fill(names.input, partitions, count, count + 25, undefined, isMixed)
      count += 25
      await sleep(60)
    }
  })()
  for (let kill = 0; kill < kills; kill++) {
    const worker = start(false)
    await worker.said(begun)
    // Every other worker may commit first, so that some are killed between commits and some before any.
    if (kill % 2 === 1) await commits(names, worker)
    await sleep(Math.random() * (kill % 2 === 1 ? 300 : 1_000))
    failEnded(worker)
    worker.kill('SIGKILL')
    await worker.exit
  }
  stop.abort()
  await filling
  // A worker killed before the end of its first transaction leaves everything to the last one.
  const last = start(true)
  const records = await readTopic(names.output, complete(partitions, count), { limitMs: 240_000, calmMs: 1_000 })
  const byTheLast = last.health()?.delivered ?? 0
  const found = { ...tally(records, partitions, count), count }
  report(`${begun}, killed again and again`, {
    kills,
    events: partitions * count,
    read: records.length,
    byTheLast,
    ...found,
  })
  return found
}
