// Allows one consumer group per sightings topic, because two groups would take over each other's notes.
// Each group writes a heartbeat to the topic and checks for others before it starts.
import type { Admin, Kafka } from '../kafka/client.js'
import { failureOf } from '../kafka/failure.js'
import { openIdempotentSender } from '../kafka/producers.js'
import { openTopicReader, readUpTo, type TopicReader } from '../kafka/topic-reader.js'
import type { Emit } from '../telemetry/event.js'

/** Topic names have no spaces, so no state record has such a key. */
const keyStart = 'used by group '
const everyMs = 600_000
/** Two heartbeat intervals, and a margin: an active group has written within this time. */
const recentMs = 1_500_000
const partition = 0

type OneGroupOptions = {
  readonly connect: () => Kafka
  readonly admin: Pick<Admin, 'describeGroups'>
  readonly topic: string
  readonly groupId: string
  readonly emit: Emit
  readonly now: () => number
}

/** Resolves with another group that uses the topic, if there is one. Otherwise it starts the heartbeat of this group. */
export const useAlone = async (
  options: OneGroupOptions,
): Promise<{ readonly other: string } | { readonly close: () => Promise<void> }> => {
  const { connect, topic, groupId, emit, now } = options
  const reader = await openTopicReader(connect())
  const sender = openIdempotentSender(connect(), 'none', () => undefined)
  const say = async (): Promise<void> => {
    const key = Buffer.from(`${keyStart}${groupId}`)
    const value = Buffer.from('{"schema_version":1}')
    await sender.send([{ topic, partition, key, value, headers: [], timestamp: String(now()) }])
  }
  let isUsed = false
  try {
    const other = await findOther(reader, options)
    if (other !== undefined) return { other }
    await say()
    isUsed = true
  } finally {
    // Close an unused sender: it would keep asking for a producer id.
    await Promise.all([reader.close(), isUsed ? undefined : sender.close()])
  }
  const again = (): void =>
    void say().catch((error: unknown) =>
      emit({ event: 'kafka_client_warned', about: topic, message: failureOf(error).message }),
    )
  const saying = setInterval(again, everyMs).unref()
  return {
    close: async () => {
      clearInterval(saying)
      await sender.close()
    },
  }
}

/** Whether the group has used the topic before. If it has no committed offsets now, it has lost them. */
export const hasUsed = async (
  reader: Pick<TopicReader, 'fetch' | 'offsetsAt'>,
  topic: string,
  groupId: string,
): Promise<boolean> => {
  let isFound = false
  const look = ({ key }: { readonly key: Buffer | null }): void => {
    isFound ||= key?.toString() === `${keyStart}${groupId}`
  }
  const end = (await reader.offsetsAt(topic, 'latest')).get(partition) ?? 0
  await readUpTo(reader, { topic, partition, end }, look, () => !isFound)
  return isFound
}

const findOther = async (
  reader: TopicReader,
  { admin, topic, groupId, now }: OneGroupOptions,
): Promise<string | undefined> => {
  const end = await reader.writtenEnd(topic, partition)
  const recent = (await reader.offsetsAt(topic, now() - recentMs)).get(partition) ?? -1
  const others = new Set<string>()
  for (let at = recent; at >= 0 && at < end;) {
    const { records, next } = await reader.fetch(topic, partition, at)
    for (const { key } of records) {
      const text = key?.toString() ?? ''
      if (text.startsWith(keyStart)) others.add(text.slice(keyStart.length))
    }
    // Do not wait for records behind an open transaction.
    if (next === at) break
    at = next
  }
  others.delete(groupId)
  for (const other of others) if (await hasMembers(admin, other)) return other
  return undefined
}

/** Without the permission to describe groups, trust the heartbeat. */
const hasMembers = async (admin: OneGroupOptions['admin'], groupId: string): Promise<boolean> => {
  try {
    const { groups } = await admin.describeGroups([groupId])
    return groups.some(({ state }) => state !== 'Empty' && state !== 'Dead')
  } catch (error) {
    if (failureOf(error).kind !== 'fatal') throw error
    return true
  }
}
