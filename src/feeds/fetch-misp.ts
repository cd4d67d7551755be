// Fetches the events in the manifest of a MISP feed: only new and changed ones, within limits.
import { copyFile, link, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Download, DownloadRequest } from '../domain/download.js'
import { readBytes } from './feed-file.js'
import { readManifest, type Manifest } from './misp.js'

type MispFetch = {
  readonly download: Download
  /** The request that fetched the manifest; its file contains the manifest. */
  readonly request: DownloadRequest
  /** The folder of the version in use, if any. */
  readonly former: string
  /** The folder to create. */
  readonly folder: string
}

const maxEvents = 20_000
const maxEventBytes = 32 * 1024 * 1024
const maxTotalBytes = 256 * 1024 * 1024
const totalMs = 600_000
const atOnce = 4

/** The address of a manifest stands for the whole MISP feed. */
export const isMispUrl = (url: string): boolean => URL.canParse(url) && new URL(url).pathname.endsWith('/manifest.json')

/** Returns the number of bytes fetched, or why the feed could not be fetched. */
export const fetchMispEvents = async (given: MispFetch): Promise<string | { readonly bytes: number }> => {
  const { download, request, former, folder } = given
  const manifest = manifestIn(request.file)
  if (!manifest.ok) return `its manifest ${manifest.message}`
  if (manifest.files.length > maxEvents) return `its manifest names more than ${maxEvents} events`
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { mode: 0o700 })
  const unchanged = unchangedOf(manifest, manifestIn(join(former, 'manifest.json')))
  const late = AbortSignal.timeout(totalMs)
  const left = [...manifest.files]
  let bytes = 0
  let problem: string | undefined
  const fetchOne = async (name: string): Promise<void> => {
    const file = join(folder, name)
    if (unchanged.has(name) && (await keep(join(former, name), file))) return
    const url = new URL(request.url)
    url.pathname = url.pathname.replace(/manifest\.json$/, name)
    const got = await download({
      ...request,
      url: url.href,
      etag: undefined,
      lastModified: undefined,
      file,
      maxBytes: maxEventBytes,
      signal: AbortSignal.any([request.signal, late]),
    })
    if (got.status === 'new') bytes += got.bytes
    else problem ??= `its event ${name} ${got.status === 'failed' ? got.message : 'was not sent'}`
    if (bytes > maxTotalBytes) problem ??= `its events are larger than ${maxTotalBytes} bytes`
    if (late.aborted) problem = `its events took longer than ${totalMs / 1000} s`
  }
  const fetchRest = async (): Promise<void> => {
    for (let name = left.pop(); name !== undefined && problem === undefined; name = left.pop()) await fetchOne(name)
  }
  await Promise.all(Array.from({ length: atOnce }, fetchRest))
  if (problem !== undefined) return problem
  await rename(request.file, join(folder, 'manifest.json'))
  return { bytes }
}

/** A folder cannot be renamed onto another one, so the old one is removed first. A reader in between finds nothing and tries again. */
export const installFolder = async (fresh: string, place: string): Promise<void> => {
  await rm(place, { recursive: true, force: true })
  await rename(fresh, place)
}

const manifestIn = (file: string): Manifest => {
  const read = readBytes(file)
  return read.ok ? readManifest(read.bytes) : read
}

/** Event files with the same timestamp in both manifests. */
const unchangedOf = (now: Manifest & { ok: true }, before: Manifest): ReadonlySet<string> => {
  if (!before.ok) return new Set()
  return new Set(
    now.files.filter((name) => {
      const timestamp = now.timestamps.get(name)
      return timestamp !== undefined && timestamp === before.timestamps.get(name)
    }),
  )
}

const keep = (from: string, to: string): Promise<boolean> =>
  link(from, to)
    .catch(() => copyFile(from, to)) // a file system without links
    .then(
      () => true,
      () => false,
    )
