// A request and its head in one buffer: kafkajs copies both twice, into memory of up to twice their size that it clears first.

/** kafkajs asks of an encoder no more than its bytes. */
export type Encoded = {
  readonly buf: Buffer
  readonly buffer: Buffer
  readonly size: () => number
  /** The bytes with the room in front that was asked for. */
  readonly whole?: Buffer
}

type Request = {
  readonly correlationId: number
  readonly clientId: string | null
  readonly request: {
    readonly apiKey: number
    readonly apiVersion: number
    /** Leaves so many bytes free in front, if it knows how to. */
    readonly encode: (before: number) => Promise<Encoded>
  }
}

export const encodeRequest = async ({ correlationId, clientId, request }: Request): Promise<Encoded> => {
  const nameBytes = clientId === null ? 0 : Buffer.byteLength(clientId)
  const headBytes = 14 + nameBytes
  const payload = await request.encode(headBytes)
  const buffer = payload.whole ?? behindRoom(headBytes, payload.buffer)
  buffer.writeInt32BE(buffer.length - 4, 0)
  buffer.writeInt16BE(request.apiKey, 4)
  buffer.writeInt16BE(request.apiVersion, 6)
  buffer.writeInt32BE(correlationId, 8)
  buffer.writeInt16BE(clientId === null ? -1 : nameBytes, 12)
  if (clientId !== null) buffer.write(clientId, 14)
  return { buf: buffer, buffer, size: () => buffer.length }
}

const behindRoom = (room: number, bytes: Buffer): Buffer => {
  const buffer = Buffer.allocUnsafe(room + bytes.length)
  bytes.copy(buffer, room)
  return buffer
}
