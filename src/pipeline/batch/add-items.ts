// Writes an annotation as items of a list in the envelope: OpenTelemetry attributes or Splunk fields.
import { isObject, parseObject, type AnyObject } from '../../base/json-object.js'
import { applyEdits } from '../annotate/edit.js'
import { jsonItemsOf, type JsonItem } from '../annotate/json-items.js'

export type ItemSettings = {
  readonly key: string
  readonly isAnnotationName: (name: string) => boolean
  /** Leaves events unchanged that already have an annotation. */
  readonly keepsExisting: boolean
}

/** OpenTelemetry values in their JSON form. */
export type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } }
  | { readonly kvlistValue: { readonly values: readonly Attribute[] } }
export type Attribute = { readonly key: string; readonly value: AnyValue }

/** One attribute per member of the annotation. */
export const attributesOf = (annotation: AnyObject, key: string): readonly Attribute[] =>
  Object.entries(annotation).map(([name, value]) => ({ key: `${key}.${name}`, value: anyValue(value) }))

/** Adds the annotation to a log record, as one attribute per member. */
export const addAttributes = (bytes: Buffer, annotation: AnyObject, settings: ItemSettings): Buffer => {
  const added = attributesOf(annotation, settings.key).map((one) => JSON.stringify(one))
  const nameOf = ({ valueStart, valueEnd }: JsonItem): unknown => parseObject(bytes.subarray(valueStart, valueEnd))?.key
  return addItems(bytes, 'attributes', '[]', added, nameOf, settings)
}

/** Adds the annotation to `fields` of an envelope, which allows no nested values. */
export const addFields = (bytes: Buffer, annotation: AnyObject, settings: ItemSettings): Buffer => {
  const added = Object.entries(annotation).flatMap(([name, value]) =>
    isFlat(value) ? [`${JSON.stringify(`${settings.key}.${name}`)}:${flatText(value)}`] : [],
  )
  return addItems(bytes, 'fields', '{}', added, ({ name }) => name, settings)
}

/** Adds items to the last list or object of that name, which is created if missing. Forged items were removed before, unless they are kept. */
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
