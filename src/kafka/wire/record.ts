// A record as it is on the wire: order, repetition and null values of its headers are kept.

export type Header = readonly [name: string, value: Buffer | null]

/** What all records of one batch share; kafkajs reads it. */
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
  /** Set instead of everything else where a record batch cannot be read: which one, and why. */
  readonly unreadable?: string
}

export type NewRecord = {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly Header[]
  /** Epoch milliseconds. */
  readonly timestamp: string
}
