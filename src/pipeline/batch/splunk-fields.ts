// Splunk's HTTP Event Collector: an annotation as flat fields beside a text event.
import { isObject, type AnyObject } from '../../domain/json-object.js'
import { applyEdits } from '../annotate/edit.js'
import { jsonItemsOf } from '../annotate/json-items.js'
import type { AttributeSettings } from './otlp.js'

/** The bytes of the envelope with the annotation in `fields`, which takes no nested value, in place of fields that look like ours. */
export const addFields = (
  bytes: Buffer,
  annotation: AnyObject,
  { key, isAnnotationName, keepsExisting }: AttributeSettings,
): Buffer => {
  const added = Object.entries(annotation)
    .flatMap(([name, value]) => (isFlat(value) ? [`${JSON.stringify(`${key}.${name}`)}:${flatText(value)}`] : []))
    .join(',')
  const top = jsonItemsOf(bytes, bytes.indexOf(0x7b))
  const fields = top.items.findLast(({ name, valueStart }) => name === 'fields' && bytes[valueStart] === 0x7b)
  if (!fields) return applyEdits(bytes, [{ at: top.close, until: top.close, text: `,"fields":{${added}}` }])
  const { items, close } = jsonItemsOf(bytes, fields.valueStart)
  const forged = items.filter(({ name = '' }) => isAnnotationName(name))
  if (keepsExisting && forged.length > 0) return bytes
  const cuts = forged.map(({ from, to }) => ({ at: from, until: to, text: '' }))
  const last = items.at(-1)
  const comma = last !== undefined && !forged.includes(last) ? ',' : ''
  return applyEdits(bytes, [...cuts, { at: close, until: close, text: comma + added }])
}

const isFlat = (value: unknown): boolean =>
  Array.isArray(value) ? value.every((one) => typeof one === 'string') : !isObject(value)

const flatText = (value: unknown): string => JSON.stringify(Array.isArray(value) ? value : String(value))
