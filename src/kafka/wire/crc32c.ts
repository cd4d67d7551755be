// CRC-32C (Castagnoli) of record batches: with the CPU instruction, or with tables if the native package has no build.
import { createRequire } from 'node:module'
import { crc32cByTables } from './crc32c-by-tables.js'

type Native = (bytes: Uint8Array) => number

/** Five times as fast as the tables, which took a fifteenth of the time of an event. */
const native = ((): Native | undefined => {
  try {
    return (createRequire(import.meta.url)('@node-rs/crc32') as { readonly crc32c: Native }).crc32c
  } catch {
    return undefined // an optional dependency: absent, or no build for this platform
  }
})()

/** The checksum of `bytes[from, to)`, unsigned. */
export const crc32c = (bytes: Uint8Array, from = 0, to = bytes.length): number =>
  native ? native(bytes.subarray(from, to)) : crc32cByTables(bytes, from, to)
