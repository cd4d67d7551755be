// Decodes the records of one partition in a fetch response: record batches with our decoder, older message sets with kafkajs.
import { decodeBatches, newRoom, type Room } from '../wire/decode-batches.js'

export type FetchDecoder = {
  readonly buffer: Buffer
  readonly offset: number
  readInt32: () => number
  canReadBytes: (length: number) => boolean
  readBytes: (length: number) => Buffer
}

/** All partitions of a response share one buffer, and with it one memory budget. */
const rooms = new WeakMap<Buffer, Room>()
const roomOf = (response: Buffer): Room => {
  const room = rooms.get(response) ?? newRoom()
  rooms.set(response, room)
  return room
}

type Decode = (decoder: FetchDecoder) => Promise<unknown>

export const decodeMessages =
  (original: unknown): Decode =>
  (decoder) => {
    // The length comes first, and the format is byte 16 of what follows.
    const formatAt = decoder.offset + 4 + 16
    if (
      decoder.buffer.length > formatAt &&
      decoder.buffer[formatAt] !== 2 &&
      decoder.buffer.readInt32BE(decoder.offset) > 0
    )
      return (original as Decode)(decoder) // a message set from before Kafka 0.11
    const size = decoder.readInt32()
    if (size <= 0 || !decoder.canReadBytes(size)) return Promise.resolve([])
    return Promise.resolve(decodeBatches(decoder.readBytes(size), roomOf(decoder.buffer)))
  }
