// The local copy of a fetched feed, the notes on its last fetch, and the lock for fetching it.
import { isObject } from '../base/json-object.js'
import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export type CopyFiles = {
  readonly list: string
  /** The latest download, until it has passed its checks. */
  readonly fresh: string
  /** The same for feeds that are folders: MISP feeds and paged sources. */
  readonly freshFolder: string
  readonly notes: string
  readonly lock: string
}

/** The name contains a hash of the address: another address gets another copy, and a key in the address does not show. */
export const copyFiles = (folder: string, name: string, url: string): CopyFiles => {
  const list = join(folder, `${name}-${createHash('sha256').update(url).digest('hex').slice(0, 12)}`)
  return { list, fresh: `${list}.new`, freshFolder: `${list}.folder`, notes: `${list}.json`, lock: `${list}.lock` }
}

/** Times are epoch milliseconds. */
export type Notes = {
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
  /** When it was last fetched or found unchanged. */
  readonly checkedAt?: number | undefined
  /** After a failure, no process retries before this time. */
  readonly retryAt?: number | undefined
  readonly failures?: number | undefined
  readonly error?: string | undefined
  /** For paged sources: the cursor of the next read. `wholeAt` is the time of the last full read, `pages` and `objects` are totals. */
  readonly cursor?: string | undefined
  /** Digests of the known objects that the next read will receive again. */
  readonly edge?: readonly string[] | undefined
  readonly wholeAt?: number | undefined
  readonly pages?: number | undefined
  readonly objects?: number | undefined
}

export const readNotes = async ({ notes, list }: CopyFiles): Promise<Notes> => {
  try {
    const value: unknown = JSON.parse(await readFile(notes, 'utf8'))
    const text = (member: unknown): string | undefined => (typeof member === 'string' ? member : undefined)
    const texts = (member: unknown): readonly string[] | undefined =>
      Array.isArray(member) ? member.filter((one) => typeof one === 'string') : undefined
    const number = (member: unknown): number | undefined => (typeof member === 'number' ? member : undefined)
    if (!isObject(value)) return {}
    const { etag, lastModified, checkedAt, retryAt, failures, error, cursor, edge, wholeAt, pages, objects } = value
    const isThere = await stat(list).then(
      () => true,
      () => false,
    )
    return {
      // Without the copy, the answer 304 Not Modified would be useless.
      ...(isThere && {
        etag: text(etag),
        lastModified: text(lastModified),
        checkedAt: number(checkedAt),
        cursor: text(cursor),
        edge: texts(edge),
        wholeAt: number(wholeAt),
        pages: number(pages),
        objects: number(objects),
      }),
      retryAt: number(retryAt),
      failures: number(failures),
      error: text(error),
    }
  } catch {
    return {} // never fetched, or broken notes: fetch everything
  }
}

export const writeNotes = async ({ notes }: CopyFiles, value: Notes): Promise<void> => {
  await writeFile(`${notes}.new`, JSON.stringify(value), { mode: 0o600 })
  await rename(`${notes}.new`, notes)
}

/** Longer than any download, so a lock that was neither renewed nor released for this long belongs to a dead process. */
const staleMs = 900_000

/** Takes the lock, so that one process per machine fetches at a time; undefined if another process has it. */
export const takeLock = async ({ lock }: CopyFiles, folder: string): Promise<(() => Promise<void>) | undefined> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const file = await open(lock, 'wx', 0o600)
      const release = (): Promise<void> => rm(lock, { force: true })
      try {
        await file.writeFile(String(process.pid))
      } catch (error) {
        await release() // a full disk must not leave an orphaned lock behind
        throw error
      } finally {
        await file.close()
      }
      return release
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      if (!(await isAbandoned(lock))) return undefined
      await rm(lock, { force: true })
    }
  }
  return undefined
}

export const renewLock = ({ lock }: CopyFiles): Promise<void> => utimes(lock, new Date(), new Date())

const isAbandoned = async (lock: string): Promise<boolean> => {
  try {
    const [{ mtimeMs }, text] = await Promise.all([stat(lock), readFile(lock, 'utf8')])
    return Date.now() - mtimeMs > staleMs || (/^\d+$/.test(text) && !isAlive(Number(text)))
  } catch {
    return true // released a moment ago
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
