// Converts events to OpenTelemetry log records, several per request, in JSON and in Protobuf.
import { attributesOf } from '../dist/pipeline/batch/add-items.js'
import { addAttributesTo } from '../dist/pipeline/otlp/add-attributes.js'
import { findLogRecords } from '../dist/pipeline/otlp/find-log-records.js'
import { varintOf } from '../dist/pipeline/otlp/protobuf-fields.js'

/** The fields of an event as attributes. */
const attributesFor = (event) =>
  attributesOf(JSON.parse(event), '').map(({ key, value }) => ({ key: key.slice(1), value }))

export const otlpJsonOf = (eventOf, size) => (n) => {
  const logRecords = Array.from({ length: size }, (_, nth) => ({ attributes: attributesFor(eventOf(n * size + nth)) }))
  return JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })
}

const field = (tag, content) => Buffer.concat([Buffer.from([tag]), varintOf(content.length), content])

export const otlpProtobufOf = (eventOf, size) => {
  const empty = field(0x0a, field(0x12, Buffer.concat(Array(size).fill(field(0x12, Buffer.alloc(0))))))
  const { frames } = findLogRecords(empty, () => false, size)
  return (n) => addAttributesTo(empty, frames, (nth) => attributesFor(eventOf(n * size + nth)))
}
