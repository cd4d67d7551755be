// Writes alerts that were raised late, on their own: their events were acknowledged before.
import type { Emit } from '../telemetry/event.js'
import { alertRecord, type AlertOut } from './alert-record.js'
import { openIdempotentSender, type IdempotentSender } from './idempotent-sender.js'
import { createClient } from './client.js'
import type { KafkaSettings } from './settings.js'

/** Resolves when the brokers have them. */
export type WriteLate = (alerts: readonly AlertOut[]) => Promise<void>

/** Each call has a producer of its own: late alerts are few, and a producer that failed must not be used again. */
export const createWriteLate = (options: {
  readonly settings: KafkaSettings
  readonly emit: Emit
  readonly now: () => number
  /** When the runner has ended nothing is written any more. */
  readonly ended: Promise<unknown>
  /** How many partitions the alerts topic has. */
  readonly partitions: () => number
}): WriteLate => {
  const { settings, emit, now, ended, partitions } = options
  const { alertsTopic = '' } = settings
  let isOver = false
  const open = new Set<IdempotentSender>()
  void ended.then(async () => {
    isOver = true
    await Promise.allSettled([...open].map((sender) => sender.close()))
  })
  return async (alerts) => {
    if (alertsTopic === '' || alerts.length === 0 || isOver) return
    const sender = openIdempotentSender(createClient(settings, emit), settings.output.compression, (_records, cause) =>
      emit({ event: 'producer_replaced', topic: alertsTopic, partition: 0, cause }),
    )
    open.add(sender)
    try {
      const result = await sender.send(alerts.map((alert) => alertRecord(alertsTopic, partitions(), alert, now())))
      if (result !== 'acknowledged') throw new Error(`the alerts topic refuses a late alert: ${result.refused}`)
    } finally {
      open.delete(sender)
      await sender.close()
    }
  }
}
