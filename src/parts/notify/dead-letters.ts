// Writes alerts that a sink permanently rejects to the dead letter topic, with the sink's answer.
import type { Kafka } from '../../kafka/client.js'
import { openIdempotentSender } from '../../kafka/producers.js'
import type { Incoming, Outgoing } from '../../kafka/records.js'
import type { Emit } from '../../telemetry/event.js'
import type { AlertRecord } from './alert-record.js'

export type DeadLetter = {
  readonly sink: string
  readonly alert: AlertRecord
  readonly record: Incoming
  readonly http: number
  readonly answer: string
}

type DeadLetters = {
  /** Resolves once they are written; retries without a limit. */
  readonly write: (letters: readonly DeadLetter[]) => Promise<void>
  readonly close: () => Promise<void>
}

type DeadLettersOptions = {
  readonly kafka: Kafka
  readonly topic: string
  readonly emit: Emit
  readonly now: () => number
}

export const openDeadLetters = ({ kafka, topic, emit, now }: DeadLettersOptions): DeadLetters => {
  const sender = openIdempotentSender(kafka, 'none', (_, cause) =>
    emit({ event: 'producer_replaced', topic, partition: 0, cause }),
  )
  const recordOf = ({ sink, alert, record, http, answer }: DeadLetter, isWhole: boolean): Outgoing => ({
    topic,
    partition: 0,
    key: Buffer.from(alert.id),
    value: isWhole ? record.value : null,
    headers: [
      ['threatweave-sink', Buffer.from(sink)],
      ['threatweave-status', Buffer.from(String(http))],
      ['threatweave-answer', Buffer.from(answer)],
      ['threatweave-alert', Buffer.from(`${record.topic}/${record.partition}:${record.offset}`)],
    ],
    timestamp: String(now()),
  })
  const write = async (letters: readonly DeadLetter[]): Promise<void> => {
    for (const letter of letters) {
      const done = await sender.send([recordOf(letter, true)])
      // If the topic rejects the alert, write only the headers, which say where the alert is.
      if (done !== 'acknowledged') await sender.send([recordOf(letter, false)])
      emit({ event: 'alerts_undelivered', sink: letter.sink, alerts: 1, topic })
    }
  }
  /** The producer sends one request at a time. */
  let queue: Promise<void> = Promise.resolve()
  return {
    write: (letters) => {
      const mine = queue.then(() => write(letters))
      queue = mine.catch(() => undefined) // the caller of write handles the error
      return mine
    },
    close: () => sender.close(),
  }
}
