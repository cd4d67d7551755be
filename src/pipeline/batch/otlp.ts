// OpenTelemetry log records in JSON: what is read of one, and an annotation as attributes of one.
import { isObject, parseObject, type AnyObject } from '../../domain/json-object.js'
import { applyEdits } from '../annotate/edit.js'
import { jsonItemsOf } from '../annotate/json-items.js'

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

export type AttributeSettings = {
  readonly key: string
  readonly isAnnotationName: (name: string) => boolean
  /** Leaves a record as it is that has an annotation. */
  readonly keepsExisting: boolean
}

/** The bytes of a log record with the annotation among its attributes, one for each member, in place of those that look like ours. */
export const addAttributes = (
  bytes: Buffer,
  annotation: AnyObject,
  { key, isAnnotationName, keepsExisting }: AttributeSettings,
): Buffer => {
  const added = Object.entries(annotation)
    .map(([name, value]) => JSON.stringify({ key: `${key}.${name}`, value: anyValue(value) }))
    .join(',')
  const top = jsonItemsOf(bytes, 0)
  const list = top.items.findLast(({ name, valueStart }) => name === 'attributes' && bytes[valueStart] === 0x5b)
  if (!list) {
    const text = `${top.items.length > 0 ? ',' : ''}"attributes":[${added}]`
    return applyEdits(bytes, [{ at: top.close, until: top.close, text }])
  }
  const { items, close } = jsonItemsOf(bytes, list.valueStart)
  const isOurs = items.map(({ valueStart, valueEnd }) => {
    const name = parseObject(bytes.subarray(valueStart, valueEnd))?.key
    return typeof name === 'string' && isAnnotationName(name)
  })
  if (keepsExisting && isOurs.includes(true)) return bytes
  const cuts = items.flatMap(({ from, to }, nth) => (isOurs[nth] === true ? [{ at: from, until: to, text: '' }] : []))
  // If the last element was removed, the comma before it is still there.
  const comma = items.length > 0 && isOurs.at(-1) === false ? ',' : ''
  return applyEdits(bytes, [...cuts, { at: close, until: close, text: comma + added }])
}

const anyValue = (value: unknown): AnyObject => {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
  if (isObject(value))
    return { kvlistValue: { values: Object.entries(value).map(([key, one]) => ({ key, value: anyValue(one) })) } }
  return { stringValue: String(value) }
}
