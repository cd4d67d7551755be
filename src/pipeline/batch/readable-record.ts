// Converts OpenTelemetry log records in JSON into plain events for extraction.
import { isObject, parseObject } from '../../base/json-object.js'

/** A name and its value as JSON. */
export type PlainMember = readonly [string, string]

/** A plain event with the body as `message` and the attributes as members. Other input is returned unchanged. */
export const readableRecord = (bytes: Buffer): Buffer => {
  const record = parseObject(bytes)
  if (!record) return bytes
  const content = plainValue(record.body)
  return Buffer.from(plainEvent(content === undefined ? [] : [content], plainMembers(record.attributes)))
}

/** Builds the event from a body and attributes. A body has several values only in a hostile record. */
export const plainEvent = (contents: readonly string[], attributes: readonly PlainMember[]): string => {
  const body = contents.map((text): PlainMember => [text.startsWith('{') ? 'body' : 'message', text])
  return plainObject([...body, ...attributes])
}

export const plainObject = (members: readonly PlainMember[]): string =>
  `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`

const plainMembers = (list: unknown): readonly PlainMember[] =>
  Array.isArray(list)
    ? list.flatMap((one): readonly PlainMember[] => {
        const text = isObject(one) ? plainValue(one.value) : undefined
        return isObject(one) && typeof one.key === 'string' && text !== undefined ? [[one.key, text]] : []
      })
    : []

/** The value as JSON; accepts both spellings of names. Undefined for empty and binary values. */
const plainValue = (value: unknown): string | undefined => {
  if (!isObject(value)) return undefined
  const { stringValue = value.string_value, intValue = value.int_value } = value
  const { doubleValue = value.double_value, boolValue = value.bool_value } = value
  const { arrayValue = value.array_value, kvlistValue = value.kvlist_value } = value
  if (isObject(arrayValue))
    return Array.isArray(arrayValue.values)
      ? `[${arrayValue.values.map((one) => plainValue(one) ?? 'null').join(',')}]`
      : undefined
  if (isObject(kvlistValue)) return plainObject(plainMembers(kvlistValue.values))
  return JSON.stringify(stringValue ?? intValue ?? doubleValue ?? boolValue)
}
