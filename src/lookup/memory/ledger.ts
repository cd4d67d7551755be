// The ledger: the calls in the current hour and day, stored next to the findings, so that a restart opens no second budget.
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { messageOf } from '../../base/message-of.js'
import type { Emit } from '../../telemetry/event.js'
import type { Ledger, Spending } from '../admission/budget.js'

/** A single record, overwritten in place. It is longer if the limits of a source are counted, and never shrinks. */
const recordBytes = 128
const maxRecordBytes = 65_536

/**
 * Written synchronously before each call, because the call itself takes a thousand times as long. Also written on opening, to detect a
 * disk that takes no writes. Throws if that fails.
 */
export const openLedger = (folder: string, emit: Emit): Ledger & { readonly close: () => void } => {
  const path = join(folder, 'spent')
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  const before = readSpending(file)
  try {
    writeSpending(file, before ?? nothing)
  } catch (error) {
    closeSync(file)
    throw error
  }
  let isFailing = false
  let isOpen = true
  return {
    ...(before && { before }),
    write: (spending) => {
      if (!isOpen) return
      try {
        writeSpending(file, spending)
        if (isFailing) emit({ event: 'memory_write_resumed', path })
        isFailing = false
      } catch (error) {
        if (!isFailing) emit({ event: 'memory_write_failed', path, message: messageOf(error), lost: 1 })
        isFailing = true
      }
    },
    close: () => {
      if (isOpen) closeSync(file)
      isOpen = false
    },
  }
}

/** The spending of the folder's owner, for a process that only reads; undefined without a valid record. */
export const readLedger = (folder: string): Spending | undefined => {
  let file: number | undefined
  try {
    file = openSync(join(folder, 'spent'), constants.O_RDONLY)
    return readSpending(file)
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

const nothing: Spending = { hour: { index: 0, count: 0 }, day: { index: 0, count: 0 } }

const writeSpending = (file: number, spending: Spending): void => {
  const body = JSON.stringify(spending)
  const length = Math.max(recordBytes, fstatSync(file).size)
  const record = Buffer.from(`${checksum(body)} ${body}`.padEnd(length - 1) + '\n')
  if (writeSync(file, record, 0, record.length, 0) < record.length) throw new Error('no space left on device')
}

const checksum = (body: string): string => crc32(body).toString(16).padStart(8, '0')

const readSpending = (file: number): Spending | undefined => {
  const record = Buffer.alloc(Math.min(fstatSync(file).size, maxRecordBytes))
  const text = record.toString('utf8', 0, readSync(file, record, 0, record.length, 0)).trimEnd()
  const body = text.slice(9)
  if (text.slice(0, 9) !== `${checksum(body)} `) return undefined
  try {
    const { hour, day, limits } = JSON.parse(body) as Spending
    const counts = Object.values(limits ?? {}).flatMap((count) =>
      'at' in count ? count.at : [count.index, count.count],
    )
    return [hour.index, hour.count, day.index, day.count, ...counts].every(Number.isSafeInteger)
      ? { hour, day, ...(limits && { limits }) }
      : undefined
  } catch {
    return undefined
  }
}
