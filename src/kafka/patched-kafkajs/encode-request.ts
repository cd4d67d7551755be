// Writes a request and its header into one buffer. kafkajs copies both twice, into zeroed memory of up to twice their size.

/** kafkajs needs only the bytes of an encoder. */
export type Encoded = {
  readonly buf: Buffer
  readonly buffer: Buffer
  readonly size: () => number
  /** The bytes with the reserved space before them. */
  readonly whole?: Buffer
}

type Request = {
  readonly correlationId: number
  readonly clientId: string | null
  readonly request: {
    readonly apiKey: number
    readonly apiVersion: number
    /** Reserves this many bytes at the start, if supported. */
    readonly encode: (before: number) => Promise<Encoded>
  }
}

export const encodeRequest = async ({ correlationId, clientId, request }: Request): Promise<Encoded> => {
  const nameBytes = clientId === null ? 0 : Buffer.byteLength(clientId)
  const headBytes = 14 + nameBytes
  const payload = await request.encode(headBytes)
  const buffer = payload.whole ?? afterSpace(headBytes, payload.buffer)
  buffer.writeInt32BE(buffer.length - 4, 0)
  buffer.writeInt16BE(request.apiKey, 4)
  buffer.writeInt16BE(request.apiVersion, 6)
  buffer.writeInt32BE(correlationId, 8)
  buffer.writeInt16BE(clientId === null ? -1 : nameBytes, 12)
  if (clientId !== null) buffer.write(clientId, 14)
  return { buf: buffer, buffer, size: () => buffer.length }
}

const afterSpace = (space: number, bytes: Buffer): Buffer => {
  const buffer = Buffer.allocUnsafe(space + bytes.length)
  bytes.copy(buffer, space)
  return buffer
}
