// Records started scans on disk, one file each, so that neither a crash nor a second process starts one again.
import { isObject } from '../base/json-object.js'
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { numberOf, textOf } from './read-value.js'

export type Visibility = 'public' | 'private'
const startedScanStates = ['posting', 'running', 'done', 'failed', 'no_such_domain', 'lost'] as const
export type StartedScanState = (typeof startedScanStates)[number]

/** `posting` without an id: the scan may or may not have been accepted. */
export type StartedScan = {
  readonly name: string
  readonly visibility: Visibility
  readonly state: StartedScanState
  readonly startedAt: number
  readonly scanId?: string
  /** The earliest time of the next poll. */
  readonly nextAt?: number
}

export type StartedScans = {
  readonly get: (name: string, visibility: Visibility) => StartedScan | undefined
  /** Claims the name; false if another process has claimed it. */
  readonly claim: (record: StartedScan) => boolean
  readonly put: (record: StartedScan) => void
  readonly drop: (record: StartedScan) => void
}

export const createStartedScans = (folder: string): StartedScans => {
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

const write = (file: string, flags: string, record: StartedScan): void => {
  const handle = openSync(file, flags, 0o600)
  try {
    writeSync(handle, `${JSON.stringify(record)}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Even an unreadable file means that a scan was started. */
const read = (file: string, name: string, visibility: Visibility): StartedScan | undefined => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
  const value = parse(text)
  const state = startedScanStates.find((known) => isObject(value) && value.state === known) ?? 'posting'
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
