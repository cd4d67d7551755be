// The members of a batch that we annotated, each with its annotation.
import { isObject, parseObject, type AnyObject } from '../../domain/json-object.js'
import { cutBatch } from './cut-batch.js'
import { readableRecord } from './otlp.js'

export type AnnotatedMember = {
  readonly bytes: Buffer
  /** As it was read; nothing for a member that is no object. */
  readonly object: AnyObject | undefined
  readonly annotation: AnyObject | undefined
}

/** Undefined if the value is no batch. `header` has the annotations of members that have no place in the value. */
export const annotatedMembers = (
  value: Buffer,
  header: AnyObject | undefined,
  key: string,
): readonly AnnotatedMember[] | undefined => {
  const batch = cutBatch(value)
  const listed = new Map<unknown, AnyObject>()
  if (Array.isArray(header?.members)) for (const one of header.members) if (isObject(one)) listed.set(one.member, one)
  return batch?.members.map(({ from, to }, nth) => {
    const bytes = value.subarray(from, to)
    const isLog = batch.isOtlp === true
    const object = parseObject(isLog ? readableRecord(bytes) : bytes)
    const inside = object && (isLog ? dottedUnder(object, key) : memberOf(object, key))
    return { bytes, object, annotation: inside ?? listed.get(nth) }
  })
}

const memberOf = (object: AnyObject, key: string): AnyObject | undefined => {
  const member = Object.hasOwn(object, key) ? object[key] : undefined
  return isObject(member) ? member : undefined
}

/** The annotation that stands in attributes `key.name`. */
const dottedUnder = (object: AnyObject, key: string): AnyObject | undefined => {
  const found = Object.entries(object).filter(([name]) => name.startsWith(`${key}.`))
  return found.length === 0
    ? undefined
    : Object.fromEntries(found.map(([name, value]) => [name.slice(key.length + 1), value]))
}
