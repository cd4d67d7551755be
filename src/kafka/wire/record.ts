// A record in wire form, which preserves order, repetition and null values of headers.

export type Header = readonly [name: string, value: Buffer | null]

/** The shared properties of a batch, in the form that kafkajs reads. */
export type RecordBatch = {
  readonly firstOffset: string
  readonly producerId: string
  readonly inTransaction: boolean
  readonly isControlBatch: boolean
}

export type WireRecord = {
  readonly offset: string
  readonly timestamp: string
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly Header[]
  readonly isControlRecord: boolean
  readonly batchContext: RecordBatch
  /** Describes an unreadable record batch; set instead of the other properties. */
  readonly unreadable?: string
}

export type NewRecord = {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly Header[]
  /** Epoch milliseconds. */
  readonly timestamp: string
}
