// Changes one field of a Protobuf message at any depth and corrects the enclosing lengths, so that most results can be parsed.
import { FieldReader, varintOf } from '../dist/pipeline/otlp/protobuf-fields.js'
import { hostile, mutate } from './mutate.mjs'

const tagOf = (number, type) => varintOf(number * 8 + type)

export const fieldOf = (number, ...content) => {
  const length = content.reduce((sum, one) => sum + one.length, 0)
  return Buffer.concat([tagOf(number, 2), varintOf(length), ...content])
}

const fieldsIn = (bytes) => {
  const fields = []
  const reader = new FieldReader(bytes, 0, bytes.length)
  while (reader.next() && fields.length < 500) {
    const { number, type, start, from, to } = reader
    fields.push({ number, type, start, from, to })
  }
  return reader.isBroken ? [] : fields
}

/** Encodes a length with more bytes than necessary. */
const padded = (length, more) => {
  const bytes = varintOf(length)
  bytes[bytes.length - 1] |= more > 0 ? 0x80 : 0
  return Buffer.concat([bytes, Buffer.alloc(Math.max(0, more - 1), 0x80), Buffer.alloc(more > 0 ? 1 : 0)])
}

const deep = (random, inside) => {
  let value = inside
  for (let left = 1 << random.below(9); left > 0; left--)
    value = random.below(2) === 0 ? fieldOf(5, fieldOf(1, value)) : fieldOf(6, fieldOf(1, fieldOf(2, value)))
  return value
}

const fieldMutations = [
  ({ number, content }, random) => fieldOf(number, Buffer.from(random.pick(hostile))),
  ({ number, content }, random) => fieldOf(number, mutate(content.toString('latin1'), ['a=b'], random)),
  ({ number, content }) => fieldOf(number, content, content),
  ({ number, content }, random) => Buffer.concat(Array(1 << random.below(8)).fill(fieldOf(number, content))),
  () => Buffer.alloc(0),
  ({ number, content }, random) => Buffer.concat([tagOf(number, 2), padded(content.length, random.below(6)), content]),
  ({ content }, random) => fieldOf(random.pick([1, 2, 3, 5, 6, 7, 99, 1000]), content),
  ({ number, content }, random) => fieldOf(number, deep(random, content)),
  ({ number, content }, random) =>
    Buffer.concat([tagOf(99, 3), fieldOf(number, content), tagOf(random.below(9) === 0 ? 98 : 99, 4)]),
  ({ number, content }, random) =>
    Buffer.concat([
      fieldOf(number, content),
      tagOf(number, random.pick([0, 1, 5])),
      Buffer.alloc(8, random.below(128)),
    ]),
  ({ number, content }, random) => fieldOf(number, content, fieldOf(6, fieldOf(1, Buffer.from(random.pick(hostile))))),
]

export const mutateField = (bytes, random) => {
  const inside = fieldsIn(bytes).filter(({ type }) => type === 2)
  if (inside.length === 0) return bytes
  const { number, start, from, to } = random.pick(inside)
  const content = bytes.subarray(from, to)
  const put =
    random.below(5) > 0 && fieldsIn(content).some(({ type }) => type === 2)
      ? fieldOf(number, mutateField(content, random))
      : random.pick(fieldMutations)({ number, content }, random)
  return Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(to)])
}
