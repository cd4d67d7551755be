// Reads the files of a journal, the caller's own or those that another process is writing just now.
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Finding } from '../../domain/finding.js'
import type { QuestionType } from '../question.js'
import { maxRecordBytes, readRecord } from './record.js'

/** Says whether a finding is still worth keeping. */
export type Restore<Question> = (question: Question, finding: Finding) => boolean
export type Counts = { readonly findings: number; readonly damaged: number }

/** What the owner of a folder has written so far, for a process that only reads there. What is being written is no damage. */
export const readJournal = async <Question>(
  folder: string,
  type: QuestionType<Question>,
  restore: Restore<Question>,
): Promise<Counts> => {
  let findings = 0
  let damaged = 0
  for (const name of await segmentNames(folder)) {
    // The owner may drop its oldest file at any time.
    const read = await readSegment(join(folder, name), type, restore).catch(unlessGone)
    findings += read?.kept ?? 0
    damaged += read?.damaged ?? 0
  }
  return { findings, damaged }
}

const unlessGone = (error: unknown): undefined => {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}

export const segmentNames = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((name) => /^findings-\d{8}\.log$/.test(name)).sort()

export const readSegment = async <Question>(
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

/** Whole lines and where each ends; a line that is too long to be a record comes without its bytes. */
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
