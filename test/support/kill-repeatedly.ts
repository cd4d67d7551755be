// Kills workers under load at random moments and counts the output.
import { setTimeout as sleep } from 'node:timers/promises'
import { committed, complete, fill, readTopic, report, tally, type Names, type Tally } from './kafka.js'
import type { Worker } from './worker.js'

export const partitions = 4

const total = async (names: Names): Promise<number> => (await committed(names)).reduce((sum, offset) => sum + offset, 0)

/** Waits until the group's offsets move; says whether they did. */
const commits = async (names: Names, limitMs = 15_000): Promise<boolean> => {
  const before = await total(names)
  for (let waited = 0; waited < limitMs; waited += 50) {
    await sleep(50)
    if ((await total(names)) > before) return true
  }
  return false
}

export type Killed = Tally & { readonly killedMidway: number; /** Of each partition. */ readonly count: number }

/** `start` is told whether the worker is the last one, which is not killed; `begun` is what one says when it has work in its hands. */
export const killRepeatedly = async (
  names: Names,
  kills: number,
  begun: 'group_joined' | 'partition_claimed',
  start: (isLast: boolean) => Worker,
  isMixed = false,
): Promise<Killed> => {
  const recordsOf = (events: number): number => (isMixed ? (events / 5) * 2 : events)
  // Events keep coming until the last kill: whenever a worker dies, there is work in its hands or before it.
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
  let killedMidway = 0
  let committedFirst = 0
  for (let kill = 0; kill < kills; kill++) {
    const worker = start(false)
    await worker.said(begun, 30_000)
    // Every other one is let come to its first commits, so that some die between two and some before any.
    if (kill % 2 === 1 && (await commits(names))) committedFirst++
    await sleep(Math.random() * (kill % 2 === 1 ? 300 : 1_000))
    if (!worker.running()) throw new Error(`a worker ended by itself: ${worker.errors()}`)
    worker.kill('SIGKILL')
    await worker.exit
    await sleep(250) // a record or two more, which nobody has taken yet
    if ((await total(names)) < partitions * recordsOf(count)) killedMidway++
  }
  stop.abort()
  await filling
  // A worker that is killed before its first transaction ends leaves everything to the last one.
  const last = start(true)
  const records = await readTopic(names.output, complete(partitions, count), { limitMs: 240_000, calmMs: 1_000 })
  const byTheLast = last.health()?.delivered ?? 0
  const found = { ...tally(records, partitions, count), killedMidway, count }
  report(`${begun}, killed again and again`, {
    kills,
    events: partitions * count,
    read: records.length,
    committedFirst,
    byTheLast,
    ...found,
  })
  return found
}
