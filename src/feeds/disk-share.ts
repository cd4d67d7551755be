// Limits the disk space of fetched feeds: per read, and for the folder with all copies.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export type DiskLimits = { readonly readBytes: number; readonly folderBytes: number }

/** A million indicators in STIX take about 2 GB, and a new read is stored next to the former copy. */
const defaults: DiskLimits = { readBytes: 2 * 1024 ** 3, folderBytes: 8 * 1024 ** 3 }

export type DiskShare = {
  /** Starts one read; the caller reports the bytes that this read adds. */
  readonly begin: () => Promise<ReadShare>
}

/** Counts written bytes and returns a message once there are too many. */
export type ReadShare = (bytes: number) => string | undefined

export const openDiskShare = (folder: string, limits: Partial<DiskLimits> = {}): DiskShare => {
  const { readBytes, folderBytes } = { ...defaults, ...limits }
  let measured = 0
  /** Bytes added by all reads since the last measurement. */
  let added = 0
  return {
    begin: async () => {
      measured = await sizeOf(folder)
      added = 0
      let own = 0
      return (bytes) => {
        own += bytes
        added += bytes
        if (own > readBytes) return `sends more than ${readBytes} bytes`
        return measured + added > folderBytes
          ? `is not kept: the copies of all feeds in ${folder} would have more than ${folderBytes} bytes`
          : undefined
      }
    },
  }
}

/** Kept pages are hard links to the same files, so each inode counts once. */
const sizeOf = async (folder: string): Promise<number> => {
  const met = new Set<number>()
  let size = 0
  const add = async (path: string): Promise<void> => {
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      const inside = join(path, entry.name)
      if (entry.isDirectory()) await add(inside)
      // A file renamed meanwhile is found under its new name, or next time.
      const found = entry.isFile() ? await stat(inside).catch(() => undefined) : undefined
      if (!found || met.has(found.ino)) continue
      met.add(found.ino)
      size += found.size
    }
  }
  await add(folder)
  return size
}
