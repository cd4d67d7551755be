// OpenTelemetry log records in JSON: what is read of one.
import { isObject, parseObject } from '../../base/json-object.js'

/** The record as a plain event: its body as `message`, its attributes as members. What is no log record is read as it is. */
export const readableRecord = (bytes: Buffer): Buffer => {
  const record = parseObject(bytes)
  if (!record) return bytes
  const { body, attributes } = record
  const members: [string, unknown][] = []
  const content = plainValue(body)
  if (content !== undefined) members.push([isObject(content) ? 'body' : 'message', content])
  members.push(...plainMembers(attributes))
  return Buffer.from(
    `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`,
  )
}

const plainMembers = (list: unknown): [string, unknown][] =>
  Array.isArray(list)
    ? list.flatMap((one): [string, unknown][] => {
        const value = isObject(one) ? plainValue(one.value) : undefined
        return isObject(one) && typeof one.key === 'string' && value !== undefined ? [[one.key, value]] : []
      })
    : []

/** Undefined for a value without content, or of bytes. */
const plainValue = (value: unknown): unknown => {
  if (!isObject(value)) return undefined
  const { stringValue, intValue, doubleValue, boolValue, arrayValue, kvlistValue } = value
  if (isObject(arrayValue)) return Array.isArray(arrayValue.values) ? arrayValue.values.map(plainValue) : undefined
  if (isObject(kvlistValue)) return Object.fromEntries(plainMembers(kvlistValue.values))
  return stringValue ?? intValue ?? doubleValue ?? boolValue
}
