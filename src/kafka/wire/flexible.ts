// The compact types and tags of flexible Kafka messages, which kafkajs does not support.

type Encoded = { readonly buf: Buffer; readonly buffer: Buffer; readonly size: () => number }

/** A request in the form that a kafkajs connection sends, with the decoder of its answer. */
export type FlexibleRequest<Answer> = {
  readonly request: object
  readonly response: {
    readonly decode: (bytes: Buffer) => Promise<Answer>
    readonly parse: (answer: Answer) => Promise<Answer>
  }
}

/** `body` begins with the tags of its header. `check` throws if the answer is a failure. */
export const flexibleRequest = <Answer>(
  api: { readonly apiKey: number; readonly apiVersion: number; readonly apiName: string },
  body: Buffer,
  decode: (bytes: Buffer) => Answer,
  check?: (answer: Answer) => void,
): FlexibleRequest<Answer> => ({
  request: {
    ...api,
    encode: (): Promise<Encoded> => Promise.resolve({ buf: body, buffer: body, size: () => body.length }),
  },
  response: {
    decode: (bytes) => Promise.resolve(decode(bytes)),
    parse: async (answer) => {
      check?.(answer)
      return Promise.resolve(answer)
    },
  },
})

export const noTags = Buffer.from([0])

export const unsigned = (value: number): Buffer => {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  bytes.push(rest)
  return Buffer.from(bytes)
}

export const compactText = (text: string): Buffer => {
  const bytes = Buffer.from(text)
  return Buffer.concat([unsigned(bytes.length + 1), bytes])
}

type FlexibleReader = {
  readonly skip: (count: number) => void
  readonly int16: () => number
  readonly int32: () => number
  readonly int64: () => bigint
  readonly raw: (length: number) => Buffer
  /** Empty for null, too. */
  readonly text: () => string
  readonly tags: () => void
  readonly each: (item: () => void) => void
}

/** Throws at a premature end; `what` describes the bytes. */
export const readFlexible = (bytes: Buffer, what: string): FlexibleReader => {
  let at = 0
  const skip = (count: number): void => {
    at += count
  }
  const length = (): number => {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes.readUInt8(at++)
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new Error(`a number in ${what} is too long`)
  }
  const raw = (size: number): Buffer => {
    const from = at
    at += size
    if (at > bytes.length) throw new Error(`${what} ends too early, at ${from}`)
    return bytes.subarray(from, at)
  }
  return {
    skip,
    int16: () => raw(2).readInt16BE(),
    int32: () => raw(4).readInt32BE(),
    int64: () => raw(8).readBigInt64BE(),
    raw,
    text: () => raw(Math.max(0, length() - 1)).toString('utf8'),
    tags: () => {
      for (let left = length(); left > 0; left--) {
        length()
        skip(length())
      }
    },
    each: (item) => {
      for (let left = length() - 1; left > 0; left--) item()
    },
  }
}
