// Remembers on disk which scans were started, one file each, so that no crash and no second process starts one again.
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, numberOf, textOf } from './read-value.js'

export type Visibility = 'public' | 'private'
export const scanStates = ['posting', 'running', 'done', 'failed', 'no_such_domain', 'lost'] as const
export type ScanState = (typeof scanStates)[number]

/** `posting` without an id: it may or may not have been accepted. */
export type ScanRecord = {
  readonly name: string
  readonly visibility: Visibility
  readonly state: ScanState
  readonly startedAt: number
  readonly scanId?: string
  /** Not to be asked about before. */
  readonly nextAt?: number
}

export type ScanStore = {
  readonly get: (name: string, visibility: Visibility) => ScanRecord | undefined
  /** Claims the name; false when somebody else already has. */
  readonly claim: (record: ScanRecord) => boolean
  readonly put: (record: ScanRecord) => void
  readonly drop: (record: ScanRecord) => void
}

export const createScanStore = (folder: string): ScanStore => {
  const fileOf = (name: string, visibility: Visibility): string =>
    join(folder, `${createHash('sha256').update(`${visibility}:${name}`).digest('hex').slice(0, 32)}.json`)
  return {
    get: (name, visibility) => read(fileOf(name, visibility), name, visibility),
    claim: (record) => {
      mkdirSync(folder, { recursive: true })
      try {
        write(fileOf(record.name, record.visibility), 'wx', record)
        return true
      } catch (error) {
        if (isCode(error, 'EEXIST')) return false
        throw error
      }
    },
    put: (record) => {
      const file = fileOf(record.name, record.visibility)
      write(`${file}.new`, 'w', record)
      renameSync(`${file}.new`, file)
    },
    drop: (record) => rmSync(fileOf(record.name, record.visibility), { force: true }),
  }
}

const write = (file: string, flags: string, record: ScanRecord): void => {
  const handle = openSync(file, flags, 0o600)
  try {
    writeSync(handle, `${JSON.stringify(record)}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** A file that says nothing readable still says that a scan was begun. */
const read = (file: string, name: string, visibility: Visibility): ScanRecord | undefined => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
  const value = parse(text)
  const state = scanStates.find((known) => isObject(value) && value.state === known) ?? 'posting'
  const scanId = isObject(value) ? textOf(value.scanId, 64) : undefined
  const nextAt = isObject(value) ? numberOf(value.nextAt) : undefined
  return {
    name,
    visibility,
    state,
    startedAt: (isObject(value) ? numberOf(value.startedAt) : undefined) ?? 0,
    ...(scanId === undefined ? {} : { scanId }),
    ...(nextAt === undefined ? {} : { nextAt }),
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code
