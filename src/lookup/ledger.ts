// The ledger: how many calls went in this hour and day, kept beside the findings, so that a restart opens no second budget.
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Tell } from '../telemetry/event.js'
import type { Ledger, Spending } from './budget.js'

/** One record of fixed length, always overwritten in place. */
const recordBytes = 128

/** Written before a call goes, so it is written at once: a call takes a thousand times as long. */
export const openLedger = (folder: string, tell: Tell): Ledger & { readonly close: () => void } => {
  const path = join(folder, 'spent')
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  const before = readSpending(file)
  let isFailing = false
  let isOpen = true
  return {
    ...(before && { before }),
    write: (spending) => {
      if (!isOpen) return
      const body = JSON.stringify(spending)
      try {
        writeSync(file, `${checksum(body)} ${body}`.padEnd(recordBytes - 1) + '\n', 0)
        isFailing = false
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        if (!isFailing) tell({ event: 'memory_write_failed', path, message, lost: 1 })
        isFailing = true
      }
    },
    close: () => {
      if (isOpen) closeSync(file)
      isOpen = false
    },
  }
}

const checksum = (body: string): string => crc32(body).toString(16).padStart(8, '0')

const readSpending = (file: number): Spending | undefined => {
  const record = Buffer.alloc(recordBytes)
  const text = record.toString('utf8', 0, readSync(file, record, 0, recordBytes, 0)).trimEnd()
  const body = text.slice(9)
  if (text.slice(0, 9) !== `${checksum(body)} `) return undefined
  try {
    const { hour, day } = JSON.parse(body) as Spending
    return [hour.index, hour.count, day.index, day.count].every(Number.isSafeInteger) ? { hour, day } : undefined
  } catch {
    return undefined
  }
}
