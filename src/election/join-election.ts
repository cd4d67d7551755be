// The election among gateways over Kafka: their group, and the control topic that only the one who leads can write.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../base/clock.js'
import { createClient } from '../kafka/client.js'
import { ageOf, joinLeaderGroup } from '../kafka/join-leader-group.js'
import { sendTransaction, transactionalProducer } from '../kafka/producers.js'
import type { KafkaSettings } from '../kafka/settings.js'
import { openTopicReader, readToEnd } from '../kafka/topic-reader.js'
import type { BudgetSettings } from '../lookup/admission/budget.js'
import type { Emit } from '../telemetry/event.js'
import {
  readControl,
  readWord,
  writeControl,
  writeWord,
  type ControlRecord,
  type ControlTopic,
} from './control-record.js'
import { nothingReserved, openElection, type ControlClaim, type Election } from './election.js'

type ElectionOptions = {
  /** Under which other gateways reach this one. */
  readonly address: string
  readonly sessionMs: number
  readonly callMs: number
  readonly budget: Pick<BudgetSettings, 'perHour' | 'perDay'>
  readonly clock: Clock
  readonly emit: Emit
}

export const joinElection = (
  settings: KafkaSettings,
  { address, sessionMs, callMs, budget, clock, emit }: ElectionOptions,
): Election => {
  const { gatewaysTopic: topic = '', verdictsKey: key = '' } = settings
  const control: ControlTopic = { topic, key }
  return openElection({
    id: randomUUID(),
    // The topic is of the gateways alone, so its name is also that of their group.
    join: (events) =>
      joinLeaderGroup(
        () => createClient(settings, emit, { retries: 1 }),
        { groupId: topic, sessionMs, word: writeWord(control, address) },
        events,
      ),
    claim: () => claimControl(settings, control, clock, emit),
    addressOf: (word) => readWord(control, word),
    ageOf,
    sessionMs,
    callMs,
    budget,
    clock,
    emit,
  })
}

/** As a partition is claimed for exactly-once: a new producer fences the last one, and only then is what is written final. */
const claimControl = async (
  settings: KafkaSettings,
  control: ControlTopic,
  clock: Clock,
  emit: Emit,
): Promise<ControlClaim> => {
  const { topic } = control
  const owner = { prefix: settings.transactionalIdPrefix, groupId: topic, topic, partition: 0 }
  const producer = transactionalProducer(createClient(settings, emit), owner)
  /** It is not used again, however its disconnection ends. */
  const close = (): Promise<void> => producer.disconnect().catch(() => undefined)
  try {
    await producer.connect()
    let transaction = await producer.transaction()
    const former = await readLast(settings, control, emit)
    return {
      former,
      write: async (record) => {
        await sendTransaction(transaction, 'none')([writeControl(control, record, clock.now())])
        await transaction.commit()
        transaction = await producer.transaction()
      },
      close,
    }
  } catch (error) {
    void close()
    throw error
  }
}

const readLast = async (
  settings: KafkaSettings,
  control: ControlTopic,
  emit: Emit,
): Promise<ControlRecord | undefined> => {
  const reader = await openTopicReader(createClient(settings, emit))
  let last: ControlRecord | undefined
  try {
    await readToEnd(
      reader,
      control.topic,
      (record) => {
        const read = readControl(control, record)
        if (!read) emit({ event: 'election_failed', message: `a record of ${control.topic} is not believed` })
        // Somebody may call whom it does not name.
        last = read ?? { caller: '', reserved: last?.reserved ?? nothingReserved }
      },
      () => true,
    )
    return last
  } finally {
    await reader.close()
  }
}
