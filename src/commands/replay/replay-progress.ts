// How far a replay has come, for its progress line.
import type { OpenReplay } from '../../kafka/replay/open-replay.js'
import type { Progress as Moved } from '../../kafka/replay/replay.js'

/** What is still to read. */
export const lengthOf = ({ plan }: OpenReplay): number =>
  plan.ranges.reduce(
    (sum, { partition, start, end }) => sum + end - (plan.reached.get(partition)?.position ?? start),
    0,
  )

export const showing = (
  { plan }: OpenReplay,
  update: (done: number, note: string) => void,
  lookups: () => number,
  began: number,
): ((progress: Moved) => void) => {
  const before = [...plan.reached.values()].reduce((sum, { tally }) => sum + tally.events, 0)
  return ({ partitions }) => {
    let done = 0
    let events = 0
    for (const { partition, start } of plan.ranges) {
      const one = partitions.get(partition)
      done += (one?.position ?? start) - (plan.reached.get(partition)?.position ?? start)
      events += one?.tally.events ?? 0
    }
    const rate = Math.round((events - before) / Math.max(0.001, (Date.now() - began) / 1000))
    update(done, `${events} events, ${rate}/s, ${lookups()} credits`)
  }
}
