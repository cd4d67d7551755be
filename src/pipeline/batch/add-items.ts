// An annotation as items of a list that the envelope has for such things: OpenTelemetry's attributes, Splunk's fields.
import { isObject, parseObject, type AnyObject } from '../../base/json-object.js'
import { applyEdits } from '../annotate/edit.js'
import { jsonItemsOf, type JsonItem } from '../annotate/json-items.js'

export type ItemSettings = {
  readonly key: string
  readonly isAnnotationName: (name: string) => boolean
  /** Leaves an event as it is that has an annotation. */
  readonly keepsExisting: boolean
}

/** OpenTelemetry's values, in the form that they have in JSON. */
export type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } }
  | { readonly kvlistValue: { readonly values: readonly Attribute[] } }
export type Attribute = { readonly key: string; readonly value: AnyValue }

/** One for each member of the annotation. */
export const attributesOf = (annotation: AnyObject, key: string): readonly Attribute[] =>
  Object.entries(annotation).map(([name, value]) => ({ key: `${key}.${name}`, value: anyValue(value) }))

/** The bytes of a log record with one attribute for each member of the annotation. */
export const addAttributes = (bytes: Buffer, annotation: AnyObject, settings: ItemSettings): Buffer => {
  const added = attributesOf(annotation, settings.key).map((one) => JSON.stringify(one))
  const nameOf = ({ valueStart, valueEnd }: JsonItem): unknown => parseObject(bytes.subarray(valueStart, valueEnd))?.key
  return addItems(bytes, 'attributes', '[]', added, nameOf, settings)
}

/** The bytes of an envelope with the annotation in `fields`, which takes no nested value. */
export const addFields = (bytes: Buffer, annotation: AnyObject, settings: ItemSettings): Buffer => {
  const added = Object.entries(annotation).flatMap(([name, value]) =>
    isFlat(value) ? [`${JSON.stringify(`${settings.key}.${name}`)}:${flatText(value)}`] : [],
  )
  return addItems(bytes, 'fields', '{}', added, ({ name }) => name, settings)
}

/** Adds items to the last list or object of that name; without one it is made. What was forged there is gone by now, unless it is kept. */
const addItems = (
  bytes: Buffer,
  name: string,
  [open = '', end = '']: string,
  added: readonly string[],
  nameOf: (item: JsonItem) => unknown,
  { isAnnotationName, keepsExisting }: ItemSettings,
): Buffer => {
  const isList = (item: JsonItem): boolean => item.name === name && bytes[item.valueStart] === open.charCodeAt(0)
  const top = jsonItemsOf(bytes, bytes.indexOf(0x7b), isList)
  const list = top.items.at(-1)
  if (!list) {
    const text = `${top.last ? ',' : ''}"${name}":${open}${added.join(',')}${end}`
    return applyEdits(bytes, [{ at: top.close, until: top.close, text }])
  }
  const { items, last, close } = jsonItemsOf(bytes, list.valueStart, (item) => {
    const found = keepsExisting && nameOf(item)
    return typeof found === 'string' && isAnnotationName(found)
  })
  if (items.length > 0) return bytes
  return applyEdits(bytes, [{ at: close, until: close, text: (last ? ',' : '') + added.join(',') }])
}

const anyValue = (value: unknown): AnyValue => {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
  if (isObject(value))
    return { kvlistValue: { values: Object.entries(value).map(([key, one]) => ({ key, value: anyValue(one) })) } }
  return { stringValue: String(value) }
}

const isFlat = (value: unknown): boolean =>
  Array.isArray(value) ? value.every((one) => typeof one === 'string') : !isObject(value)

const flatText = (value: unknown): string => JSON.stringify(Array.isArray(value) ? value : String(value))
