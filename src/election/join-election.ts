// Joins the leader election over Kafka: the group of the gateways, and the control topic that only the leader can write.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../base/clock.js'
import { createClient } from '../kafka/client.js'
import { ageOf, joinLeaderGroup } from '../kafka/join-leader-group.js'
import { sendTransaction, claimTransactions } from '../kafka/producers.js'
import type { Outgoing } from '../kafka/records.js'
import type { KafkaSettings } from '../kafka/settings.js'
import { openTopicReader, readToEnd } from '../kafka/topic-reader.js'
import type { Emit } from '../telemetry/event.js'
import { readWord, writeControl, writeWord, type ControlTopic, type NumberedRecord } from './control-record.js'
import { openElection, type ControlClaim, type Election } from './election.js'
import { createLatestControl } from './latest-control.js'

type ElectionOptions = {
  /** The URL at which other gateways reach this one. */
  readonly address: string
  readonly sessionMs: number
  readonly callMs: number
  readonly budget: { readonly perHour: number; readonly perDay: number }
  readonly clock: Clock
  readonly emit: Emit
}

export const joinElection = (
  settings: KafkaSettings,
  { address, sessionMs, callMs, budget, clock, emit }: ElectionOptions,
): Election => {
  const { gatewaysTopic: topic = '', verdictsKey: key = '' } = settings
  const control: ControlTopic = { topic, key }
  /** The last record read or written here, in case the topic has lost it since. */
  let known: NumberedRecord | undefined
  const claim = async (): Promise<ControlClaim> => {
    const { former, write, close } = await claimControl(settings, control, known, { emit, now: clock.now })
    known = former
    return {
      former,
      write: async (record) => {
        const next = { ...record, sequence: (known?.sequence ?? 0) + 1 }
        await write(writeControl(control, next, clock.now()))
        known = next
      },
      close,
    }
  }
  return openElection({
    id: randomUUID(),
    // The topic belongs to the gateways alone, so its name is also their group id.
    join: (events) =>
      joinLeaderGroup(
        () => createClient(settings, emit, { retries: 1 }),
        { groupId: topic, sessionMs, word: writeWord(control, address) },
        events,
      ),
    claim,
    addressOf: (word) => readWord(control, word),
    ageOf,
    sessionMs,
    callMs,
    budget,
    clock,
    emit,
  })
}

type ClaimedTopic = {
  readonly former: NumberedRecord | undefined
  readonly write: (record: Outgoing) => Promise<void>
  readonly close: () => Promise<void>
}

/** Claims the topic like an exactly-once partition: a new transactional producer fences the previous one, and only then are its records final. */
const claimControl = async (
  settings: KafkaSettings,
  control: ControlTopic,
  known: NumberedRecord | undefined,
  surroundings: { readonly emit: Emit; readonly now: () => number },
): Promise<ClaimedTopic> => {
  const { emit } = surroundings
  const { topic } = control
  const owner = { prefix: settings.transactionalIdPrefix, groupId: topic, topic, partition: 0 }
  const claimed = await claimTransactions(createClient(settings, emit), owner)
  const { producer, next } = claimed
  /** Errors on disconnect are ignored, because the producer is not used again. */
  const close = (): Promise<void> => producer.disconnect().catch(() => undefined)
  try {
    let { transaction } = claimed
    const former = await readLatest(settings, control, known, emit)
    return {
      former,
      write: async (record) => {
        await sendTransaction(transaction, 'none', surroundings)([record])
        await transaction.commit()
        transaction = await next()
      },
      close,
    }
  } catch (error) {
    void close()
    throw error
  }
}

const readLatest = async (
  settings: KafkaSettings,
  control: ControlTopic,
  known: NumberedRecord | undefined,
  emit: Emit,
): Promise<NumberedRecord | undefined> => {
  const reader = await openTopicReader(createClient(settings, emit))
  const latest = createLatestControl(control, known)
  try {
    await readToEnd(reader, control.topic, latest.take, () => true)
  } finally {
    await reader.close()
  }
  const ignored = [...latest.ignored()].map(([why, count]) => `${count} ${words[why]}`)
  if (ignored.length > 0)
    emit({ event: 'election_failed', message: `records of ${control.topic} were ignored: ${ignored.join(', ')}` })
  return latest.record()
}

const words = { not_signed: 'without a valid signature', repeated: 'that repeat an older one' } as const
