// Reads the events of a record by its place, as they were before they were annotated, with the annotations that were written with them.
import { kafkaSettingsOf } from '../../app/limits.js'
import { readWrittenOf } from '../../app/open-records.js'
import { originalOf } from '../../app/open-rule-events.js'
import type { Config } from '../../config/schema.js'
import type { Annotation } from '../../domain/annotation.js'
import { readRecord } from '../../kafka/read-record.js'

const place = /^([A-Za-z0-9._-]{1,249})\/(\d{1,9})\/(\d{1,15})(?:#(\d{1,5}))?$/

/** `topic/partition/offset`, perhaps with `#` and the index of a member. */
export const isPlace = (text: string): boolean => place.test(text)

type PlacedEvent = { readonly bytes: Buffer; readonly annotation?: Annotation }

export const readPlacedEvents = async (
  text: string,
  config: Config,
): Promise<readonly PlacedEvent[] | { readonly refused: string }> => {
  const [, topic = '', partition = '', offset = '', member] = place.exec(text) ?? []
  const at = { topic, partition: Number(partition), offset: Number(offset) }
  const record = await readRecord(kafkaSettingsOf(config), at)
  if ('refused' in record) return record
  if (record.value === null) return { refused: `${text} is a record without a value` }
  const { events } = readWrittenOf(config)(record)
  const wanted = events.filter((event) => member === undefined || event.member === Number(member))
  if (wanted.length === 0) return { refused: `${topic}/${partition}/${offset} has no member ${member ?? ''}` }
  return wanted.map(({ bytes, object, annotation }) => ({
    bytes: object && annotation ? originalOf(object, config.output.key, annotation.read_as !== undefined) : bytes,
    ...(annotation && { annotation: annotation as unknown as Annotation }),
  }))
}
