// Checks the cluster for `run`: whether the brokers answer, and whether the topics exist and fit.
import type { Admin } from 'kafkajs'
import { ignoreTelemetry } from '../telemetry/event.js'
import { failureOf } from './failure.js'
import { createClient } from './client.js'
import type { KafkaSettings } from './settings.js'
import { createTopics, inspectTopics, type TopicRemark } from './topics.js'

type OnlineCheck =
  | {
      readonly reached: true
      readonly created: readonly string[]
      /** The input topics that exist. */
      readonly input: readonly string[]
      readonly remarks: readonly TopicRemark[]
    }
  | { readonly reached: false; readonly sentence: string }

export const checkOnline = async (settings: KafkaSettings, create: boolean): Promise<OnlineCheck> => {
  let admin: Admin | undefined
  try {
    admin = createClient(settings, ignoreTelemetry, { retries: 2 }).admin()
    await admin.connect()
    const created = create ? await createTopics(admin, settings) : []
    const { input, remarks } = await inspectTopics(admin, settings)
    const missing = new Set(remarks.filter(({ level }) => level === 'error').map(({ topic }) => topic))
    return { reached: true, created, input: input.filter((topic) => !missing.has(topic)), remarks }
  } catch (error) {
    return { reached: false, sentence: `${settings.brokers.join(', ')}: ${failureOf(error).message}` }
  } finally {
    await admin?.disconnect()
  }
}
