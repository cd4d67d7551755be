// Adds attributes to log records of an OpenTelemetry request in Protobuf: bytes are inserted and the lengths around them corrected.
import { applyEdits, type Edit } from '../annotate/edit.js'
import type { AnyValue, Attribute } from '../batch/add-items.js'
import type { Frame } from './find-log-records.js'
import { fieldOf, tagOf, varintOf, wireTypes } from './protobuf-fields.js'

/** `attributesOf` gives those of a log record by its index, or none. */
export const addAttributesTo = (
  bytes: Buffer,
  frames: readonly Frame[],
  attributesOf: (nth: number) => readonly Attribute[] | undefined,
): Buffer => {
  const edits: Edit[] = []
  let grown = new Map<Frame, number>()
  for (const [nth, frame] of frames.entries()) {
    const attributes = attributesOf(nth)
    if (!attributes) continue
    const text = Buffer.concat(attributes.map((one) => fieldOf(6, ...keyAndValue(one))))
    edits.push({ at: frame.to, until: frame.to, text })
    grown.set(frame, text.length)
  }
  // From log records to scopes to resources: what grew makes longer what it is in.
  while (grown.size > 0) {
    const around = new Map<Frame, number>()
    for (const [{ lengthAt, from, to, parent }, added] of grown) {
      const length = varintOf(to - from + added)
      edits.push({ at: lengthAt, until: from, text: length })
      if (parent) around.set(parent, (around.get(parent) ?? 0) + added + length.length - (from - lengthAt))
    }
    grown = around
  }
  return applyEdits(bytes, edits)
}

const keyAndValue = ({ key, value }: Attribute): readonly Buffer[] => [
  fieldOf(1, Buffer.from(key)),
  fieldOf(2, encodeValue(value)),
]

const encodeValue = (value: AnyValue): Buffer => {
  if ('stringValue' in value) return fieldOf(1, Buffer.from(value.stringValue))
  if ('boolValue' in value) return Buffer.concat([tagOf(2, wireTypes.varint), varintOf(value.boolValue ? 1 : 0)])
  if ('intValue' in value) return Buffer.concat([tagOf(3, wireTypes.varint), varintOf(BigInt(value.intValue))])
  if ('doubleValue' in value) {
    const content = Buffer.alloc(8)
    content.writeDoubleLE(value.doubleValue)
    return Buffer.concat([tagOf(4, wireTypes.fixed64), content])
  }
  if ('arrayValue' in value) return fieldOf(5, ...value.arrayValue.values.map((one) => fieldOf(1, encodeValue(one))))
  return fieldOf(6, ...value.kvlistValue.values.map((one) => fieldOf(1, ...keyAndValue(one))))
}
