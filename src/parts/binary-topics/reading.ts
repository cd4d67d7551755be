// Bounded reading of a value and writing of its JSON, so that neither schema nor value can exhaust memory or time.

/** The value does not match its schema, or is hostile. */
export class Undecodable extends Error {}

/** The position in the value, and the output so far. */
export type Reading = {
  readonly bytes: Buffer
  at: number
  /** The end of the current part. */
  end: number
  out: string
  /** The remaining budget of characters that are not in `out` yet. */
  room: number
  /** The remaining budget of values: some take no bytes, and a schema can have any number of them. */
  left: number
}

/** Deeper than any real event; extraction stops at 64 anyway. */
const maxDepth = 100
const maxOutput = 8_388_608
const stepsPerByte = 8
const freeSteps = 10_000

export const createReading = (bytes: Buffer, at: number): Reading => ({
  bytes,
  at,
  end: bytes.length,
  out: '',
  room: maxOutput,
  left: freeSteps + stepsPerByte * (bytes.length - at),
})

/** Charges one value. */
export const step = (reading: Reading, depth: number): void => {
  if (--reading.left < 0 || reading.out.length > maxOutput) throw new Undecodable('holds more than its size allows')
  if (depth > maxDepth) throw new Undecodable('is nested too deep')
}

/** Charges characters that are written outside `out`. */
export const spend = (reading: Reading, characters: number): void => {
  if ((reading.room -= characters) < 0) throw new Undecodable('holds more than its size allows')
}

/** Skips the next bytes and returns their start. */
export const take = (reading: Reading, length: number): number => {
  const from = reading.at
  if (!(length >= 0 && length <= reading.end - from)) throw new Undecodable('ends before it is complete')
  reading.at = from + length
  return from
}

/** An unsigned number of up to 64 bits, seven per byte, lowest first. */
export const readVarint = (reading: Reading): bigint | number => {
  const { bytes, end } = reading
  let value = 0
  let factor = 1
  // Up to seven bytes, the value fits a number exactly.
  for (let nth = 0; nth < 7; nth++) {
    if (reading.at >= end) throw new Undecodable('ends before it is complete')
    const byte = bytes[reading.at++] as number
    value += (byte & 0x7f) * factor
    if (byte < 0x80) return value
    factor *= 128
  }
  let large = BigInt(value)
  for (let nth = 7; nth < 10; nth++) {
    if (reading.at >= end) throw new Undecodable('ends before it is complete')
    const byte = bytes[reading.at++] as number
    large |= BigInt(byte & 0x7f) << BigInt(7 * nth)
    if (byte < 0x80) return BigInt.asUintN(64, large)
  }
  throw new Undecodable('has a number of more than 64 bits')
}

/** Decodes zigzag, which Avro and Protobuf use: 1, 2, 3 … mean −1, 1, −2 … */
export const unzigzag = (value: bigint | number): bigint | number => {
  if (typeof value === 'bigint') return (value >> 1n) ^ -(value & 1n)
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2
}

export const writeDouble = (value: number): string => (Number.isFinite(value) ? String(value) : `"${value}"`)

/** Names of fields that hold an address: flow exporters write them as four or sixteen bytes. */
const addressName = /(?:^|[_.-]|[a-z])(?:ip|ipv4|ipv6|addr|address|hop)$/i

/** Writes bytes as the most likely of: an address, text, or base64. */
export const writeBytes = (bytes: Buffer, name: string): string => {
  if ((bytes.length === 4 || bytes.length === 16) && addressName.test(name)) return `"${writeAddress(bytes)}"`
  const text = bytes.toString('utf8')
  return /[\u0000-\u0008\u000e-\u001f\ufffd]/.test(text) ? `"${bytes.toString('base64')}"` : JSON.stringify(text)
}

const writeAddress = (bytes: Buffer): string => {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, nth) => bytes.readUInt16BE(nth * 2).toString(16))
  return groups.join(':')
}

const longestTimeMs = 8.64e15

/** Writes milliseconds since 1970 as ISO 8601 with further digits in `more`, or as a number if out of range. */
export const writeTime = (ms: number, more = '', zone = 'Z'): string =>
  Math.abs(ms) <= longestTimeMs ? `"${new Date(ms).toISOString().slice(0, -1)}${more}${zone}"` : String(ms)
