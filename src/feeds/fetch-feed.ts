// Fetches a feed when it is due: asks only for changes, installs a list only after it loads, and retries failures with backoff.
import { readFileSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { Clock } from '../base/clock.js'
import type { ClientCertificate, Download } from '../domain/download.js'
import { messageOf } from '../base/message-of.js'
import type { Emit } from '../telemetry/event.js'
import type { FileProblem } from '../domain/problem.js'
import type { DiskShare, ReadShare } from './disk-share.js'
import { addressOf, type FeedSettings } from './feed.js'
import { fetchMispEvents, installFolder, isMispUrl } from './fetch-misp.js'
import { fetchPages, type PagedSource } from './fetch-pages.js'
import { copyFiles, readNotes, renewLock, takeLock, writeNotes, type CopyFiles, type Notes } from './fetched-copy.js'
import { searchAttributes } from './misp-search.js'
import { readCollection } from './taxii.js'

export type FetchState = {
  /** Epoch milliseconds. */
  nextAt: number
  /** When it was last fetched or found unchanged, by any process on this machine. */
  checkedAt?: number | undefined
  error?: string | undefined
  /** Another process on this machine is fetching it. */
  isElsewhere?: boolean
  fetches: number
  failures: number
  /** For paged sources: how much was read so far, and the cursor of the last read. */
  read?: { readonly pages: number; readonly objects: number; readonly cursor?: string | undefined } | undefined
}

export type FetchedFeed = {
  readonly state: FetchState
  readonly path: string
  /** Does nothing before the feed is due. Never rejects. */
  readonly fetchIfDue: () => Promise<void>
}

export type FetchOutside = {
  readonly folder: string
  readonly diskShare: DiskShare
  readonly download: Download
  readonly clock: Clock
  readonly random: () => number
  readonly emit: Emit
  readonly signal: AbortSignal
  /** Loads the list in a file and puts it into use; returns the problem if the list is refused. */
  readonly take: (file: string, install: () => Promise<void>) => Promise<FileProblem | undefined>
  /** Whether an earlier version of the list is in use. */
  readonly isInUse: () => boolean
}

const minuteMs = 60_000
const lockedMs = 1_000
const defaultRefreshMinutes = 60

/** The host of an address, without path and query, which may contain a key. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'what is no address')

export const createFetchedFeed = (settings: FeedSettings, outside: FetchOutside): FetchedFeed => {
  const { name, allowHttp = false, refreshMinutes = defaultRefreshMinutes } = settings
  const url = addressOf(settings) ?? ''
  const { folder, diskShare, download, clock, random, emit, signal } = outside
  const files = copyFiles(folder, name, url)
  const from = hostOf(url)
  const isMisp = settings.url !== undefined && isMispUrl(url)
  const isPaged = settings.url === undefined
  const isClosed = (): boolean => signal.aborted
  const refreshMs = refreshMinutes * minuteMs
  /** Up to ten percent earlier or later, so that a fleet does not send its requests all at once. */
  const jittered = (ms: number): number => ms * (0.9 + 0.2 * random())
  const state: FetchState = { nextAt: 0, fetches: 0, failures: 0 }

  const fail = async (message: string, notes: Notes, retryAfterMs = 0): Promise<void> => {
    const failures = (notes.failures ?? 0) + 1
    const wait = Math.max(Math.min(refreshMs, jittered(minuteMs * 2 ** Math.min(failures - 1, 10))), retryAfterMs)
    state.failures++
    state.error = message
    state.nextAt = clock.now() + wait
    emit({ event: 'feed_fetch_failed', feed: name, from, message, kept: outside.isInUse() })
    await writeNotes(files, { ...notes, failures, retryAt: state.nextAt, error: message })
  }
  const succeed = async (notes: Notes): Promise<void> => {
    state.checkedAt = clock.now()
    state.error = undefined
    state.nextAt = state.checkedAt + jittered(refreshMs)
    await writeNotes(files, {
      ...notes,
      checkedAt: state.checkedAt,
      retryAt: undefined,
      failures: undefined,
      error: undefined,
    })
  }

  const fetchNow = async (notes: Notes): Promise<void> => {
    const started = clock.now()
    state.fetches++
    const access = readAccess(settings)
    if ('problem' in access) return fail(access.problem, notes)
    const { etag, lastModified } = notes
    const { headers, clientCertificate } = access
    const share = await diskShare.begin()
    if (isPaged) return fetchPaged(notes, access, share)
    const request = { url, headers, clientCertificate, etag, lastModified, allowHttp, file: files.fresh, signal }
    const got = await download(request)
    if (isClosed()) return
    if (got.status === 'failed') return fail(got.message, notes, got.retryAfterMs)
    if (got.status === 'same' && etag === undefined && lastModified === undefined)
      return fail('answers 304 Not Modified, although it was asked for the whole list', notes)
    let bytes = got.status === 'new' ? got.bytes : 0
    if (got.status === 'new') {
      const events = isMisp
        ? await fetchMispEvents({ download, request, former: files.list, folder: files.freshFolder })
        : { bytes: 0 }
      if (isClosed()) return
      if (typeof events === 'string') return fail(events, notes)
      bytes += events.bytes
      const tooMuch = share(bytes)
      if (tooMuch !== undefined) return fail(tooMuch, notes)
      const problem = isMisp
        ? await outside.take(files.freshFolder, () => installFolder(files.freshFolder, files.list))
        : await outside.take(files.fresh, () => rename(files.fresh, files.list))
      // The notes keep the former validators, so that a refused list is downloaded again.
      if (problem) return fail(`the list is refused: ${problem.message}`, notes)
    }
    emit({ event: 'feed_fetched', feed: name, from, bytes, ms: clock.now() - started })
    if (got.status === 'same') return succeed(notes)
    return succeed({ etag: got.etag, lastModified: got.lastModified })
  }

  const fetchPaged = async (
    notes: Notes,
    { headers, key, clientCertificate }: Access,
    share: ReadShare,
  ): Promise<void> => {
    const started = clock.now()
    const isWhole = notes.wholeAt === undefined || started - notes.wholeAt >= wholeMs
    const got = await fetchPages({
      download,
      request: { headers, clientCertificate, allowHttp, signal },
      source: sourceOf(settings, key, isWhole ? {} : notes),
      former: isWhole ? undefined : files.list,
      folder: files.freshFolder,
      share,
      progressed: async (pages, objects) => {
        state.read = { pages, objects, cursor: notes.cursor }
        emit({ event: 'feed_page_fetched', feed: name, from, pages, objects })
        await renewLock(files)
      },
    })
    if (isClosed()) return
    if ('message' in got) return fail(got.message, notes, got.retryAfterMs)
    if (isWhole || got.objects > 0) {
      const problem = await outside.take(files.freshFolder, () => installFolder(files.freshFolder, files.list))
      // A refused list is read whole again.
      if (problem) return fail(`the list is refused: ${problem.message}`, { ...notes, wholeAt: undefined })
    }
    emit({ event: 'feed_fetched', feed: name, from, bytes: got.objects > 0 ? got.bytes : 0, ms: clock.now() - started })
    const before = isWhole ? { pages: 0, objects: 0 } : notes
    const read = {
      pages: (before.pages ?? 0) + got.pages,
      objects: (before.objects ?? 0) + got.objects,
      cursor: got.cursor ?? (isWhole ? undefined : notes.cursor),
    }
    state.read = read
    return succeed({ ...read, edge: got.edge, wholeAt: isWhole ? started : notes.wholeAt })
  }

  return {
    state,
    path: files.list,
    fetchIfDue: async () => {
      if (clock.now() < state.nextAt) return
      let release: (() => Promise<void>) | undefined
      try {
        release = await takeLock(files, folder)
        const notes = await readNotes(files)
        const dueAt = Math.max((notes.checkedAt ?? -Infinity) + refreshMs * 0.9, notes.retryAt ?? 0)
        state.checkedAt = notes.checkedAt
        state.error = notes.error
        const { pages, objects, cursor } = notes
        if (pages !== undefined && objects !== undefined) state.read = { pages, objects, cursor }
        state.isElsewhere = release === undefined
        if (!release) state.nextAt = clock.now() + lockedMs
        else if (clock.now() < dueAt) state.nextAt = dueAt
        else await fetchNow(notes)
      } catch (error) {
        state.nextAt = clock.now() + jittered(minuteMs)
        state.failures++
        state.error = `cannot be kept in ${folder}: ${messageOf(error)}`
        emit({ event: 'feed_fetch_failed', feed: name, from, message: state.error, kept: outside.isInUse() })
      } finally {
        await clean(files, release)
      }
    },
  }
}

/** Incremental reads do not report deletions, so everything is read once a day. */
const wholeMs = 24 * 60 * minuteMs

const sourceOf = (
  { taxii, misp = '', tags, published }: FeedSettings,
  key: string,
  { cursor, edge = [] }: { readonly cursor?: string | undefined; readonly edge?: readonly string[] | undefined },
): PagedSource =>
  taxii === undefined
    ? searchAttributes({ misp, tags, published }, key, cursor === undefined ? undefined : { cursor, edge })
    : readCollection(taxii, cursor)

const clean = async (files: CopyFiles, release: (() => Promise<void>) | undefined): Promise<void> => {
  if (!release) return
  await Promise.all([files.fresh, files.freshFolder].map((path) => rm(path, { recursive: true, force: true })))
  await release()
}

type Access = {
  readonly headers: Readonly<Record<string, string>>
  readonly key: string
  readonly clientCertificate: ClientCertificate | undefined
}

/** Read for every fetch, so that keys can be rotated. Messages never contain the contents. */
export const readAccess = (settings: Partial<FeedSettings>): Access | { readonly problem: string } => {
  const { headersFile, apiKeyFile, clientCertFile, clientKeyFile } = settings
  const headers = headersFile === undefined ? {} : readHeaders(headersFile)
  if (typeof headers === 'string') return { problem: headers }
  try {
    const key = apiKeyFile === undefined ? '' : readFileSync(apiKeyFile, 'utf8').trim()
    if (/[^\x21-\x7e]/.test(key)) return { problem: 'its apiKeyFile does not hold a key alone' }
    const clientCertificate =
      clientCertFile === undefined || clientKeyFile === undefined
        ? undefined
        : { cert: readFileSync(clientCertFile, 'utf8'), key: readFileSync(clientKeyFile, 'utf8') }
    return { headers, key, clientCertificate }
  } catch (error) {
    return { problem: `a file with its key or certificate cannot be read: ${messageOf(error)}` }
  }
}

/** One header per line, such as `Authorization: Bearer …`. Messages never contain the values. */
const readHeaders = (file: string): Record<string, string> | string => {
  const headers: Record<string, string> = {}
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return `its headersFile cannot be read: ${messageOf(error)}`
  }
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [, name, value] = /^([A-Za-z0-9-]{1,64}):\s*([\x20-\x7e]*?)\s*$/.exec(line) ?? []
    if (name === undefined || value === undefined)
      return `line ${at + 1} of its headersFile ${file} is no header such as Authorization: Bearer KEY`
    headers[name.toLowerCase()] = value
  }
  return headers
}
