// Collects the output topics of `run` during the demo: annotated events, alerts and corrections, with arrival times.
import type { Alert } from '../../alerts/alert.js'
import { receive } from './traffic.js'
import type { Annotation } from '../../domain/annotation.js'
import type { KafkaSettings } from '../../kafka/settings.js'

export type Event = { readonly message?: string; readonly threatweave: Annotation }
export type AlertRecord = Omit<Alert, 'threatweave'> & {
  readonly threatweave: Alert['threatweave'] & { readonly kind?: string }
}
export type Arrived<Value> = { readonly at: number; readonly origin: string; readonly value: Value }

export type Watched = {
  readonly events: readonly Arrived<Event>[]
  readonly alerts: readonly Arrived<AlertRecord>[]
  readonly corrections: readonly Arrived<Event>[]
  readonly stop: () => Promise<unknown>
}

export const watchTopics = async (kafka: KafkaSettings): Promise<Watched> => {
  const events: Arrived<Event>[] = []
  const alerts: Arrived<AlertRecord>[] = []
  const corrections: Arrived<Event>[] = []
  const follow = <Value>(topic: string, list: Arrived<Value>[]): Promise<() => Promise<void>> =>
    receive(kafka, topic, (value, origin) => {
      list.push({ at: Date.now(), origin, value: JSON.parse(value.toString()) as Value })
    })
  const stops = await Promise.all([
    follow(kafka.output.topic, events),
    follow(kafka.alertsTopic ?? '', alerts),
    follow(kafka.correctionsTopic ?? '', corrections),
  ])
  return { events, alerts, corrections, stop: () => Promise.all(stops.map((stop) => stop())) }
}
