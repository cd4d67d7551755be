// Fetches a paged source into a folder: everything, or only the changes since the last read next to the pages already there.
import { copyFile, link, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Download, DownloadRequest } from '../domain/download.js'
import { isObject, type AnyObject } from '../base/json-object.js'
import type { ReadShare } from './disk-share.js'
import { readBytes } from './feed-file.js'
import { readJson } from './json-text.js'
import { digestOf } from './page-outline.js'
import { openPageReader, type PageReader } from './read-pages.js'

/** The parts of a request that differ per page. */
type PageRequest = Pick<DownloadRequest, 'url' | 'body'>

/** The value is an outline: its objects contain only their ids and versions. */
type PageAnswer = { readonly value: unknown; readonly header: (name: string) => string | undefined }

export type Page =
  | {
      readonly objects: readonly AnyObject[]
      /** How many of the objects the kept pages already contain unchanged. */
      readonly known?: number
      /** On the last page: where the next read begins, and digests of the objects which that read will receive again. */
      readonly cursor?: string | undefined
      readonly edge?: readonly string[] | undefined
      /** Undefined on the last page. */
      readonly next?: PageRequest | undefined
    }
  | { readonly problem: string }

/** A paged source, created for one read. */
export type PagedSource = {
  readonly headers: Readonly<Record<string, string>>
  readonly first: PageRequest
  readonly read: (answer: PageAnswer) => Page
  /** A text that identifies one version of one object. */
  readonly versionOf: (object: AnyObject) => string
  /** The meaning of an HTTP status on this server, if it says more than the number. */
  readonly meaningOf?: (status: number) => string | undefined
}

type PagesFetch = {
  readonly download: Download
  readonly request: Omit<DownloadRequest, 'url' | 'file' | 'body' | 'etag' | 'lastModified'>
  readonly source: PagedSource
  /** The folder with the pages to keep; undefined to read everything. */
  readonly former: string | undefined
  /** The folder to create. */
  readonly folder: string
  readonly progressed: (pages: number, objects: number) => Promise<void>
  readonly share: ReadShare
}

type FetchedPages =
  | {
      readonly pages: number
      readonly objects: number
      readonly bytes: number
      readonly cursor: string | undefined
      readonly edge: readonly string[] | undefined
    }
  | { readonly message: string; readonly retryAfterMs?: number | undefined }

const maxPageBytes = 32 * 1024 * 1024
const maxPages = 100_000
/** The entry limit of an index. */
const maxObjects = 8_000_000

/** Counts only what is new in this read. The cursor is returned after the last page, so a failing page loses nothing. */
export const fetchPages = async (given: PagesFetch): Promise<FetchedPages> => {
  const reader = openPageReader()
  try {
    return await fetchEach(given, reader)
  } finally {
    await reader.close()
  }
}

const fetchEach = async (given: PagesFetch, reader: PageReader): Promise<FetchedPages> => {
  const { download, request, source, former, folder, progressed, share } = given
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { mode: 0o700 })
  const kept = former === undefined ? 0 : await keepPages(former, folder)
  /** Digests of the pages so far, because a server that repeats itself would never end. */
  const met = new Set<string>()
  let asked = source.first
  let pages = 0
  let objects = 0
  let bytes = 0
  for (;;) {
    const file = join(folder, pageName(kept + pages))
    const headers = { ...request.headers, ...source.headers }
    const got = await download({ ...request, ...asked, headers, file, maxBytes: maxPageBytes })
    const at = `its page ${pages + 1}`
    if (got.status === 'failed') {
      const meaning = got.answered === undefined ? undefined : source.meaningOf?.(got.answered)
      return { message: meaning ?? `${at} ${got.message}`, retryAfterMs: got.retryAfterMs }
    }
    if (got.status === 'same') return { message: `${at} was not sent` }
    const tooMuch = share(got.bytes)
    if (tooMuch !== undefined) return { message: tooMuch }
    const outline = await reader.read(file)
    if (!outline.ok) return { message: `${at} ${outline.message}` }
    const page = source.read({ value: outline.value, header: got.header })
    if ('problem' in page) return { message: page.problem }
    const { length } = page.objects
    const digest = digestOf(page.objects.map(source.versionOf).join('\n'))
    if (length > 0 && met.has(digest)) return { message: `sends the same page again, as page ${pages + 1}` }
    met.add(digest)
    const fresh = length - (page.known ?? 0)
    if (fresh === 0) await rm(file)
    else pages++
    objects += fresh
    bytes += got.bytes
    await progressed(pages, objects)
    if (page.next === undefined) {
      await writeFile(join(folder, 'manifest.json'), JSON.stringify({ threatweave_pages: kept + pages }))
      return { pages, objects, bytes, cursor: page.cursor, edge: page.edge }
    }
    if (length === 0) return { message: `says that there is more, and sends nothing as page ${pages + 1}` }
    if (kept + pages >= maxPages || objects > maxObjects)
      return { message: `has more than ${maxPages} pages or ${maxObjects} objects` }
    asked = page.next
  }
}

const pageName = (number: number): string => `${String(number).padStart(6, '0')}.json`

/** The pages in a folder, newest first, as counted in its manifest; undefined for another kind of manifest. */
export const pagesIn = (manifest: unknown): readonly string[] | undefined => {
  const count = isObject(manifest) ? manifest.threatweave_pages : undefined
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 0 || count > maxPages) return undefined
  return Array.from({ length: count }, (_, back) => pageName(count - 1 - back))
}

/** Links the former pages into the new folder and returns their number. */
const keepPages = async (former: string, folder: string): Promise<number> => {
  const read = readBytes(join(former, 'manifest.json'))
  const json = read.ok ? readJson(read.bytes) : undefined
  const names = (json?.ok === true ? pagesIn(json.value) : undefined) ?? []
  for (const name of names)
    await link(join(former, name), join(folder, name)).catch(() => copyFile(join(former, name), join(folder, name))) // a file system without links
  return names.length
}
