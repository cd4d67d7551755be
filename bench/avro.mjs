// Encodes events of the Kafka bench as Avro, and serves their schema from a registry.
import { createServer } from 'node:http'

/** The schema of an event: strings, integers, lists of strings and nested objects. */
const typeOf = (value, name) => {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'number') return 'long'
  if (Array.isArray(value)) return { type: 'array', items: 'string' }
  const fields = Object.entries(value).map(([own, inner]) => ({ name: own, type: typeOf(inner, `${name}_${own}`) }))
  return { type: 'record', name, fields }
}

const encode = (value) => {
  if (typeof value === 'string') return Buffer.concat([long(Buffer.byteLength(value)), Buffer.from(value)])
  if (typeof value === 'number') return long(value)
  if (Array.isArray(value)) return Buffer.concat([long(value.length), ...value.map(encode), long(0)])
  return Buffer.concat(Object.values(value).map(encode))
}

const long = (value) => {
  const bytes = []
  for (let left = value * 2; ; left = Math.floor(left / 128))
    if (left < 128) return Buffer.from([...bytes, left])
    else bytes.push((left % 128) | 128)
}

/** Renames the field whose name is not valid in Avro. */
const named = (text) => JSON.parse(text.replace('"@timestamp"', '"timestamp"'))

/** With the prefix for schema id 1. */
export const avroOf = (eventOf) => (n) => Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), encode(named(eventOf(n)))])

export const startRegistry = async (eventOf) => {
  const schema = JSON.stringify(typeOf(named(eventOf(0)), 'Event'))
  const server = createServer((_, response) => response.end(JSON.stringify({ schema })))
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => new Promise((done) => server.close(done)) }
}
