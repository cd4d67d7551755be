// Prints the results of the demo: all verdicts, the number of corrected events, and what to try next.
import type { Io } from '../../terminal/command.js'
import { shellWord } from '../../terminal/shell-word.js'
import { createSummary } from '../../terminal/summary.js'
import type { Event } from './watch-topics.js'

type Outcome = {
  readonly events: readonly Event[]
  /** How many events were sent before their lookup was answered. `events` has their corrected annotations. */
  readonly corrected: number
  /** Calls to the lookup server. */
  readonly calls: number
}

/** The event was sent without its answer; a correction follows. */
export const isWaiting = ({ threatweave }: Event): boolean =>
  threatweave.reason === 'pending' || threatweave.reason === 'deadline'

export const showSummary = ({ events, corrected, calls }: Outcome, io: Io): void => {
  const summary = createSummary()
  for (const { threatweave } of events) summary.see(threatweave)
  io.stdout.write(`All events\n\n${summary.text(undefined, {}, 0)}`)
  if (events.some(({ threatweave }) => threatweave.reason === 'no_verdict'))
    io.stdout.write('  (no_verdict: the data neither accuses nor clears the address, so it is never called clean)\n') // prettier-ignore
  const asked = events.flatMap(({ threatweave }) =>
    threatweave.indicators.filter(({ decision }) => decision === 'lookup').map(({ value }) => value),
  )
  io.stdout.write(
    `${asked.length} lookups of ${new Set(asked).size} distinct values took ${calls} calls to the lookup server; memory and lists did the rest\n`,
  )
  if (corrected > 0)
    io.stdout.write(`${corrected} ${corrected === 1 ? 'event' : 'events'} left before the answer; each was corrected\n`)
}

/** Suggestions for after the demo. */
export const nextText = (page: string, program: string): string => `
Next
  node ${shellWord(program)} demo --keep
      the same, and it stays: status page (was at ${page}), tail, explain, history
  node ${shellWord(program)} pipe --feed LIST --alerts - YOUR.LOG
      your own log against a list of yours, without Kafka and without a key
`

type Kept = {
  readonly page: string
  readonly program: string
  readonly brokers: string
  readonly output: string
  /** Topic, partition and offset of an annotated event. */
  readonly origin: string
}

/** Commands to paste into another terminal while the demo keeps running. */
export const keptText = ({ page, program, brokers, output, origin }: Kept): string => `
Status page: ${page}
In another terminal:
  export THREATWEAVE_KAFKA_BROKERS=${brokers} THREATWEAVE_KAFKA_OUTPUT_TOPIC=${output}
  node ${shellWord(program)} tail --from earliest --verdict malicious,suspicious
  node ${shellWord(program)} explain ${origin}
  node ${shellWord(program)} history 198.51.100.77
Ctrl-C stops and removes everything.
`
