// Writes small databases in MaxMind format: a binary tree of prefixes and a section of values.
import { parseRange, type AddressRange } from '../../src/domain/address.js'

export type MmdbValue = string | number | { readonly [name: string]: MmdbValue } | readonly MmdbValue[] | Double | Wide
/** Integers are written as uint32 unless they are wrapped in one of these. */
export type Double = { readonly double: number }
type Wide = { readonly uint64: number }

const header = (type: number, size: number): Buffer => {
  const sizeBits = Math.min(size, size < 29 ? size : size < 285 ? 29 : 30)
  const extra = sizeBits === 29 ? [size - 29] : sizeBits === 30 ? [(size - 285) >> 8, (size - 285) & 255] : []
  return type < 8 ? Buffer.from([(type << 5) | sizeBits, ...extra]) : Buffer.from([sizeBits, type - 7, ...extra])
}

const wholeBytes = (value: number): Buffer => {
  const hex = value === 0 ? '' : value.toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
}

const encode = (value: MmdbValue): Buffer => {
  if (typeof value === 'string') return Buffer.concat([header(2, Buffer.byteLength(value)), Buffer.from(value)])
  if (typeof value === 'number') {
    const bytes = wholeBytes(value)
    return Buffer.concat([header(6, bytes.length), bytes])
  }
  if (Array.isArray(value)) return Buffer.concat([header(11, value.length), ...value.map(encode)])
  const members = value as { readonly [name: string]: MmdbValue }
  if (typeof members.double === 'number') {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleBE(members.double)
    return Buffer.concat([header(3, 8), bytes])
  }
  if (typeof members.uint64 === 'number') {
    const bytes = wholeBytes(members.uint64)
    return Buffer.concat([header(9, bytes.length), bytes])
  }
  const entries = Object.entries(members)
  return Buffer.concat([
    header(7, entries.length),
    ...entries.flatMap(([name, inner]) => [encode(name), encode(inner)]),
  ])
}

/** The common prefix bits of a range; IPv4 is under ::/96. */
const prefixBits = (range: AddressRange): number[] => {
  const words = range.version === 4 ? [0, 0, 0, range.first] : [...range.first]
  const lasts = range.version === 4 ? [0, 0, 0, range.last] : [...range.last]
  const bits: number[] = []
  for (let i = 0; i < 128; i++) {
    const shift = 31 - (i % 32)
    const bit = (words[i >> 5]! >>> shift) & 1
    if (bit !== ((lasts[i >> 5]! >>> shift) & 1)) break
    bits.push(bit)
  }
  return bits
}

type Node = [Node | number | undefined, Node | number | undefined]

export const writeMmdb = (type: string, rows: readonly (readonly [range: string, value: MmdbValue])[]): Buffer => {
  const values = rows.map(([, value]) => encode(value))
  const root: Node = [undefined, undefined]
  rows.forEach(([text], row) => {
    const bits = prefixBits(parseRange(text)!)
    let node = root
    bits.slice(0, -1).forEach((bit) => {
      if (!Array.isArray(node[bit])) node[bit] = [undefined, undefined]
      node = node[bit]
    })
    node[bits.at(-1)!] = row
  })
  const nodes: Node[] = []
  const number = (node: Node): void => {
    nodes.push(node)
    node.forEach((child) => Array.isArray(child) && number(child))
  }
  number(root)
  const offsets = values.map((_, row) => values.slice(0, row).reduce((sum, bytes) => sum + bytes.length, 0))
  const tree = Buffer.alloc(nodes.length * 6)
  nodes.forEach((node, i) =>
    node.forEach((child, side) => {
      const record = Array.isArray(child)
        ? nodes.indexOf(child)
        : child === undefined
          ? nodes.length
          : nodes.length + 16 + offsets[child]!
      tree.writeUIntBE(record, i * 6 + side * 3, 3)
    }),
  )
  const metadata = encode({
    node_count: nodes.length,
    record_size: 24,
    ip_version: 6,
    database_type: type,
    languages: ['en'],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: { uint64: 1_735_689_600 },
    description: { en: 'invented sample' },
  })
  return Buffer.concat([tree, Buffer.alloc(16), ...values, Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'), metadata])
}
