// CRC-32C (Castagnoli) with lookup tables, eight bytes per step.

const tables: readonly Int32Array[] = (() => {
  const made = Array.from({ length: 8 }, () => new Int32Array(256))
  const [first] = made as [Int32Array]
  for (let byte = 0; byte < 256; byte++) {
    let value = byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1
    first[byte] = value
  }
  for (let step = 1; step < 8; step++)
    for (let byte = 0; byte < 256; byte++) {
      const before = made[step - 1]?.[byte] ?? 0
      ;(made[step] as Int32Array)[byte] = (before >>> 8) ^ (first[before & 0xff] ?? 0)
    }
  return made
})()
const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
]

/** The checksum of `bytes[from, to)`, unsigned. */
/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index is masked to its table or bounded by the loop */
export const crc32cByTables = (bytes: Uint8Array, from = 0, to = bytes.length): number => {
  let crc = -1
  let at = from
  for (; at + 8 <= to; at += 8) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    crc =
      t7[crc & 0xff]! ^
      t6[(crc >>> 8) & 0xff]! ^
      t5[(crc >>> 16) & 0xff]! ^
      t4[crc >>> 24]! ^
      t3[bytes[at + 4]!]! ^
      t2[bytes[at + 5]!]! ^
      t1[bytes[at + 6]!]! ^
      t0[bytes[at + 7]!]!
  }
  for (; at < to; at++) crc = (crc >>> 8) ^ t0[(crc ^ bytes[at]!) & 0xff]!
  return ~crc >>> 0
}
/* eslint-enable @typescript-eslint/no-non-null-assertion */
