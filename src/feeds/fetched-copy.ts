// The copy of a fetched feed on this machine, what is known about its last fetch, and which process may fetch it next.
import { isObject } from '../base/json-object.js'
import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export type CopyFiles = {
  readonly list: string
  /** What came last, until it has been found good. */
  readonly fresh: string
  /** The same for a MISP feed, which is a folder. */
  readonly freshFolder: string
  readonly notes: string
  readonly lock: string
}

/** Another address is another list, so its copy is another file; the address, which may hold a key, does not show in the name. */
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
  /** Nobody tries before this, after a failure. */
  readonly retryAt?: number | undefined
  readonly failures?: number | undefined
  readonly error?: string | undefined
  /** Of what is read page by page: where the next read begins, when all of it was read last, and how much it was. */
  readonly cursor?: string | undefined
  /** By their digests what the next read is sent again although it is known. */
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
      // Without the copy an answer "not changed" would be of no use.
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
    return {} // never fetched, or the notes are broken: it is fetched whole
  }
}

export const writeNotes = async ({ notes }: CopyFiles, value: Notes): Promise<void> => {
  await writeFile(`${notes}.new`, JSON.stringify(value), { mode: 0o600 })
  await rename(`${notes}.new`, notes)
}

/** Longer than any download may take, so whoever has neither renewed nor released it for longer is dead. */
const staleMs = 900_000

/** One process of this machine fetches at a time; nothing when another one does. */
export const takeLock = async ({ lock }: CopyFiles, folder: string): Promise<(() => Promise<void>) | undefined> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const file = await open(lock, 'wx', 0o600)
      const release = (): Promise<void> => rm(lock, { force: true })
      try {
        await file.writeFile(String(process.pid))
      } catch (error) {
        await release() // a full disk must not leave a lock behind that nobody holds
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
    return true // it was released in this moment
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
