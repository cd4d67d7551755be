// The topics a replay writes to: created with unlimited retention, because its records are as old as the events; or refused.
import type { Admin } from 'kafkajs'
import { growthBytes, lookAgain, makeTopics, readFacts, type TopicFacts } from '../kafka/topics.js'

export type Written = {
  readonly input: string
  readonly output: string
  readonly deadLetters: string
  readonly alerts: string | undefined
  /** How old the oldest event of the range is. */
  readonly ageMs: number
}

export const prepareTopics = async (
  admin: Admin,
  { input, output, deadLetters, alerts, ageMs }: Written,
): Promise<{ readonly facts: ReadonlyMap<string, TopicFacts> } | { readonly refused: string }> => {
  const existing = new Set(await admin.listTopics())
  const wanted = [...new Set([output, deadLetters, ...(alerts === undefined ? [] : [alerts])])]
  const facts = (topics: readonly string[]): Promise<ReadonlyMap<string, TopicFacts>> =>
    lookAgain(() => readFacts(admin, [input, ...topics.filter((topic) => topic !== input)]))
  const found = await facts(wanted.filter((topic) => existing.has(topic)))
  const kept = found.get(output)?.retentionMs ?? -1
  if (kept >= 0 && kept < ageMs)
    return {
      refused: `topic ${output} keeps records for ${days(kept)}, and the oldest event is ${days(ageMs)} old: it would be deleted as soon as it is written. Give the topic retention.ms -1, or name another --output`,
    }
  const { partitions = 1, maxBytes = 1_048_588 } = found.get(input) ?? {}
  const missing = wanted.filter((topic) => !existing.has(topic))
  if (missing.length === 0) return { facts: found }
  await makeTopics(
    admin,
    missing.map((topic) => ({
      topic,
      numPartitions: topic === output ? partitions : 1,
      replicationFactor: -1,
      configEntries: [
        { name: 'retention.ms', value: '-1' },
        { name: 'retention.bytes', value: '-1' },
        { name: 'message.timestamp.type', value: 'CreateTime' },
        { name: 'max.message.bytes', value: String(maxBytes + growthBytes) },
      ],
    })),
  )
  return { facts: await facts(wanted) }
}

const days = (ms: number): string =>
  ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} hours` : `${Math.round(ms / 86_400_000)} days`
