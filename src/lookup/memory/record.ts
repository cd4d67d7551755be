// Encodes one journal record as a line with a checksum, so that torn or damaged lines are detected.
import { isObject } from '../../base/json-object.js'
import { crc32 } from 'node:zlib'
import type { Finding } from '../../domain/finding.js'
import { reasons } from '../../domain/reason.js'
import type { QuestionType } from '../question.js'
import { isRememberable } from './lifetime.js'

type JournalRecord<Question> = { readonly question: Question; readonly finding: Finding }

/** A longer line is not a record. */
export const maxRecordBytes = 1_048_576

/** The digits of the checksum, and the space after them. */
const headBytes = 9

export const writeRecord = <Question>(type: QuestionType<Question>, question: Question, finding: Finding): Buffer => {
  const body = Buffer.from(JSON.stringify({ v: 1, ...type.write(question), finding }))
  return Buffer.concat([Buffer.from(`${checksum(body)} `), body, Buffer.of(10)])
}

/** Decodes a line without its line feed; undefined if it is not as it was written. */
export const readRecord = <Question>(
  line: Buffer,
  type: QuestionType<Question>,
): JournalRecord<Question> | undefined => {
  const body = line.subarray(headBytes)
  if (line.toString('latin1', 0, headBytes) !== `${checksum(body)} `) return undefined
  try {
    return recordOf(JSON.parse(body.toString()), type)
  } catch {
    return undefined
  }
}

const checksum = (body: Buffer): string => crc32(body).toString(16).padStart(8, '0')

/** The checksum proves that the line is intact; this check proves that the version and the shape match. */
const recordOf = <Question>(body: unknown, type: QuestionType<Question>): JournalRecord<Question> | undefined => {
  if (!isObject(body) || body.v !== 1) return undefined
  const { finding } = body
  const question = type.read(body)
  if (question === undefined || !isFinding(finding) || !isRememberable(finding)) return undefined
  return typeof finding.at === 'number' ? { question, finding } : undefined
}

/** Whether an external value has the shape of a finding. */
export const isFinding = (value: unknown): value is Finding => {
  if (!isObject(value) || (value.at !== undefined && typeof value.at !== 'number')) return false
  if (value.status === 'unknown') return reasons.includes(value.reason as never)
  return (
    value.status === 'known' &&
    typeof value.source === 'string' &&
    isFacts(value.facts) &&
    (value.answers === undefined || (Array.isArray(value.answers) && value.answers.every(isAnswered)))
  )
}

const isAnswered = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.operation === 'string' &&
  typeof value.at === 'number' &&
  (value.facts === undefined || isFacts(value.facts))

const isFacts = (facts: unknown): boolean =>
  isObject(facts) &&
  isObject(facts.flags) &&
  Array.isArray(facts.categories) &&
  (facts.hosts === undefined || (Array.isArray(facts.hosts) && facts.hosts.every(isObject)))
