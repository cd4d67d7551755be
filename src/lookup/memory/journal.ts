// The journal: paid findings on disk, so that a restart pays for nothing twice.
import { createReadStream } from 'node:fs'
import { readdir, mkdir, open, rm, stat, truncate, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Finding } from '../../domain/finding.js'
import { messageOf } from '../../base/message-of.js'
import type { Emit } from '../../telemetry/event.js'
import type { QuestionType } from '../question.js'
import { maxRecordBytes, readRecord, writeRecord } from './record.js'
import { lockFolder } from './folder-lock.js'

type JournalSettings = {
  /** A folder; created if missing, safe to delete while no process uses it. */
  readonly path: string
  readonly maxBytes: number
}

export type Journal<Question> = {
  /** Resolves when the operating system has the record, so that only a crash of the machine can lose it. Never rejects. */
  readonly append: (question: Question, finding: Finding) => Promise<void>
  /** Writes the remaining records, syncs them to disk and releases the folder. */
  readonly close: () => Promise<void>
}

type Segment = { readonly number: number; readonly path: string; bytes: number }
type Waiting = { readonly record: Buffer; readonly written: () => void }

/** The journal has at most this many files and forgets by deleting the oldest one; nothing is ever rewritten. */
const segmentCount = 8
/** Records that may wait for a hanging disk. Beyond that, findings are released without being stored. */
const maxWaiting = 10_000

/**
 * Locks the folder for this process, restores its records from oldest to newest, and appends after them. `restore` returns whether a
 * finding is still worth keeping. Throws `FolderInUse` if another live process owns the folder.
 */
export const openJournal = async <Question>(
  { path, maxBytes }: JournalSettings,
  type: QuestionType<Question>,
  { restore, emit }: { readonly restore: Restore<Question>; readonly emit: Emit },
): Promise<Journal<Question>> => {
  await mkdir(path, { recursive: true, mode: 0o700 })
  const lock = await lockFolder(path)
  const segmentBytes = Math.ceil(maxBytes / segmentCount)
  let segments: Segment[]
  try {
    const { segments: found, ...counts } = await readBack(path, type, restore)
    segments = found
    emit({ event: 'memory_restored', path, ...counts })
  } catch (error) {
    await lock.release()
    throw error
  }

  const waiting: Waiting[] = []
  let writing: Promise<void> | undefined
  let file: FileHandle | undefined
  let isFailing = false

  const nextSegment = async (): Promise<Segment> => {
    await file?.close()
    file = undefined
    await mkdir(path, { recursive: true, mode: 0o700 })
    while (total(segments) + segmentBytes > maxBytes && segments.length > 0)
      await rm((segments.shift() as Segment).path, { force: true })
    const number = (segments.at(-1)?.number ?? 0) + 1
    const segment = { number, path: join(path, `findings-${String(number).padStart(8, '0')}.log`), bytes: 0 }
    segments.push(segment)
    return segment
  }

  const write = async (records: Buffer): Promise<void> => {
    if (!lock.isHeld()) throw new Error('another process has taken the folder over')
    let segment = segments.at(-1)
    if (!segment || segment.bytes + records.length > segmentBytes) segment = await nextSegment()
    file ??= await openSegment(segment)
    await file.appendFile(records)
    segment.bytes += records.length
  }

  /** Closes the file. The next write reopens it and cuts off a partial record. */
  const fail = async (error: unknown, lost: number): Promise<void> => {
    // Logged once until writing works again. A failing disk costs money after a restart, but no verdict now.
    if (!isFailing) emit({ event: 'memory_write_failed', path, message: messageOf(error), lost })
    isFailing = true
    const old = file
    file = undefined
    await old?.close().catch(() => undefined) // the handle is not used again
  }

  /** One write for all records that arrived during the last one. */
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = takeUpTo(waiting, segmentBytes)
      try {
        await write(Buffer.concat(batch.map(({ record }) => record)))
        if (isFailing) emit({ event: 'memory_write_resumed', path })
        isFailing = false
      } catch (error) {
        await fail(error, batch.length)
      }
      for (const { written } of batch) written()
    }
    writing = undefined
  }

  return {
    append: (question, finding) => {
      const record = writeRecord(type, question, finding)
      if (waiting.length >= maxWaiting || record.length > Math.min(segmentBytes, maxRecordBytes))
        return Promise.resolve()
      return new Promise((written) => {
        waiting.push({ record, written })
        writing ??= flush()
      })
    },
    close: async () => {
      await writing
      try {
        await file?.datasync()
        await file?.close()
      } catch (error) {
        await fail(error, 0)
      }
      file = undefined
      await lock.release()
    },
  }
}

const openSegment = async (segment: Segment): Promise<FileHandle> => {
  const file = await open(segment.path, 'a', 0o600)
  const { size } = await file.stat()
  if (size > segment.bytes) await file.truncate(segment.bytes)
  else segment.bytes = size
  return file
}

/** Takes records from the front while they fit, so that no file exceeds its size. */
const takeUpTo = (waiting: Waiting[], maxBytes: number): Waiting[] => {
  let bytes = 0
  const tooMany = waiting.findIndex(({ record }) => (bytes += record.length) > maxBytes)
  return waiting.splice(0, tooMany < 0 ? waiting.length : tooMany)
}

const total = (segments: readonly Segment[]): number => segments.reduce((sum, { bytes }) => sum + bytes, 0)

const readBack = async <Question>(
  folder: string,
  type: QuestionType<Question>,
  restore: Restore<Question>,
): Promise<Counts & { readonly segments: Segment[] }> => {
  const segments: Segment[] = []
  let findings = 0
  let damaged = 0
  for (const name of await segmentNames(folder)) {
    const path = join(folder, name)
    const read = await readSegment(path, type, restore)
    damaged += read.damaged
    // A torn last record is cut off, so that the next one is not appended to it.
    if ((await stat(path)).size > read.wholeBytes) {
      damaged++
      await truncate(path, read.wholeBytes)
    }
    findings += read.kept
    if (read.kept === 0) await rm(path, { force: true })
    else segments.push({ number: Number(name.slice(9, 17)), path, bytes: read.wholeBytes })
  }
  return { segments, findings, damaged }
}

/** Returns whether a finding is still worth keeping. */
export type Restore<Question> = (question: Question, finding: Finding) => boolean
type Counts = { readonly findings: number; readonly damaged: number }

/** Reads the folder of another owner. A record that is still being written does not count as damaged. */
export const readJournal = async <Question>(
  folder: string,
  type: QuestionType<Question>,
  restore: Restore<Question>,
): Promise<Counts> => {
  let findings = 0
  let damaged = 0
  for (const name of await segmentNames(folder)) {
    // The owner may delete its oldest file at any time.
    const read = await readSegment(join(folder, name), type, restore).catch(unlessGone)
    findings += read?.kept ?? 0
    damaged += read?.damaged ?? 0
  }
  return { findings, damaged }
}

const unlessGone = (error: unknown): undefined => {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}

const segmentNames = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((name) => /^findings-\d{8}\.log$/.test(name)).sort()

const readSegment = async <Question>(
  path: string,
  type: QuestionType<Question>,
  restore: Restore<Question>,
): Promise<{ readonly kept: number; readonly damaged: number; readonly wholeBytes: number }> => {
  let kept = 0
  let damaged = 0
  let wholeBytes = 0
  for await (const { line, end } of linesOf(path)) {
    wholeBytes = end
    const record = line && readRecord(line, type)
    if (!record) damaged++
    else if (restore(record.question, record.finding)) kept++
  }
  return { kept, damaged, wholeBytes }
}

/** Whole lines with their end offsets; a line too long for a record comes without its bytes. */
async function* linesOf(path: string): AsyncGenerator<{ line: Buffer | undefined; end: number }> {
  let rest: Buffer = Buffer.alloc(0)
  let isTooLong = false
  let offset = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 262_144 }) as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const part = chunk.subarray(from, at)
      yield { line: isTooLong ? undefined : rest.length > 0 ? Buffer.concat([rest, part]) : part, end: offset + at + 1 }
      rest = Buffer.alloc(0)
      isTooLong = false
      from = at + 1
    }
    offset += chunk.length
    if (isTooLong || rest.length + chunk.length - from > maxRecordBytes) {
      isTooLong = true
      rest = Buffer.alloc(0)
    } else rest = Buffer.concat([rest, chunk.subarray(from)])
  }
}
