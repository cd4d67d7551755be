// Turns annotated events and corrections (NDJSON) into lines for _bulk, so that a correction replaces the event with the same id.
import { createInterface } from 'node:readline'

const key = process.argv[2] ?? 'threatweave'
for await (const line of createInterface({ input: process.stdin })) {
  const id = JSON.parse(line)[key]?.enrichment_id
  console.log(`${JSON.stringify({ index: id === undefined ? {} : { _id: id } })}\n${line}`)
}
