// Reads an event of a topic by its place, as it was before it was annotated, with the annotation that was written with it.
import { kafkaSettingsOf } from '../../app/limits.js'
import { originalOf } from '../../app/open-rule-events.js'
import type { Config } from '../../config/schema.js'
import type { Annotation } from '../../domain/annotation.js'
import { isObject, parseObject } from '../../domain/json-object.js'
import { readRecord } from '../../kafka/read-record.js'

const place = /^([A-Za-z0-9._-]{1,249})\/(\d{1,9})\/(\d{1,15})$/

/** `topic/partition/offset`. */
export const isPlace = (text: string): boolean => place.test(text)

export type PlacedEvent = { readonly bytes: Buffer; readonly annotation?: Annotation }

export const readPlacedEvent = async (
  text: string,
  config: Config,
): Promise<PlacedEvent | { readonly refused: string }> => {
  const [, topic = '', partition = '', offset = ''] = place.exec(text) ?? []
  const at = { topic, partition: Number(partition), offset: Number(offset) }
  const record = await readRecord(kafkaSettingsOf(config), at)
  if ('refused' in record) return record
  const { value, headers } = record
  if (value === null) return { refused: `${text} is a record without a value` }
  const whole = parseObject(value)
  const { key } = config.output
  const inside = whole?.[key]
  if (whole && isObject(inside))
    return {
      bytes: originalOf(whole, key, inside.read_as !== undefined),
      annotation: inside as unknown as Annotation,
    }
  const header = headers.find(([name]) => name === key)?.[1]
  const beside = header ? parseObject(header) : undefined
  return { bytes: value, ...(beside && { annotation: beside as unknown as Annotation }) }
}
