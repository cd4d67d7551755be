// The numbers that identify events in input records and in the output.
import type { PlacedRecord } from './checks.js'
import { readRecords } from './wire.js'

/** A tombstone is identified by its key. */
export const numbersOf = ({ record, key }: Pick<PlacedRecord, 'record' | 'key'>): readonly string[] => {
  if (record.kind === 'tombstone') return [`key ${key ?? ''}`]
  return record.kind === 'batch' ? record.members.map(({ n }) => String(n)) : [String(record.n)]
}

export const numbersIn = (batch: Buffer): readonly string[] =>
  readRecords(batch).flatMap(({ key, value }) =>
    value === null
      ? [`key ${String(key)}`]
      : [...value.toString().matchAll(/"n":(\d+)|\bn=(\d+)/g)].map(([, one = '', other = '']) => `${one}${other}`),
  )
