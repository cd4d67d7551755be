// Inserts attributes into log records of an OpenTelemetry request in Protobuf, and corrects the enclosing lengths.
import { applyEdits, type Edit } from '../annotate/edit.js'
import type { AnyValue, Attribute } from '../batch/add-items.js'
import type { Frame } from './find-log-records.js'
import { BackwardWriter } from './backward-writer.js'
import { varintOf } from './protobuf-fields.js'

/** `attributesOf` returns the attributes for a log record by its index. */
export const addAttributesTo = (
  bytes: Buffer,
  frames: readonly Frame[],
  attributesOf: (nth: number) => readonly Attribute[] | undefined,
): Buffer => {
  const edits: Edit[] = []
  const writer = new BackwardWriter()
  let grown = new Map<Frame, number>()
  for (const [nth, frame] of frames.entries()) {
    const attributes = attributesOf(nth)
    if (!attributes) continue
    writeAttributes(writer, 6, attributes)
    const text = writer.take()
    edits.push({ at: frame.to, until: frame.to, text })
    grown.set(frame, text.length)
  }
  // From log records to scopes to resources: each growth lengthens the parent.
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

/** In reverse, because the writer goes backwards. */
const writeAttributes = (writer: BackwardWriter, number: number, attributes: readonly Attribute[]): void => {
  for (let nth = attributes.length - 1; nth >= 0; nth--) {
    const { key, value } = attributes[nth] as Attribute
    writer.message(number, () => {
      writer.message(2, () => writeValue(writer, value))
      writer.text(1, key)
    })
  }
}

const writeValue = (writer: BackwardWriter, value: AnyValue): void => {
  if ('stringValue' in value) writer.text(1, value.stringValue)
  else if ('boolValue' in value) writer.integer(2, value.boolValue ? 1n : 0n)
  else if ('intValue' in value) writer.integer(3, BigInt(value.intValue))
  else if ('doubleValue' in value) writer.double(4, value.doubleValue)
  else if ('arrayValue' in value) {
    const { values } = value.arrayValue
    writer.message(5, () => {
      for (let nth = values.length - 1; nth >= 0; nth--)
        writer.message(1, () => writeValue(writer, values[nth] as AnyValue))
    })
  } else {
    const { values } = value.kvlistValue
    writer.message(6, () => writeAttributes(writer, 1, values))
  }
}
