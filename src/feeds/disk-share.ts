// How much of the disk fetched feeds may take: one read, and the folder with the copies of all.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export type DiskLimits = { readonly readBytes: number; readonly folderBytes: number }

/** A million indicators in STIX have about 2 GB, and while they are read anew their former copy is there as well. */
const defaults: DiskLimits = { readBytes: 2 * 1024 ** 3, folderBytes: 8 * 1024 ** 3 }

export type DiskShare = {
  /** For one read; what is told of its bytes are those that it adds. */
  readonly begin: () => Promise<ReadShare>
}

/** Takes bytes that were written, and says why they are too many if they are. */
export type ReadShare = (bytes: number) => string | undefined

export const openDiskShare = (folder: string, limits: Partial<DiskLimits> = {}): DiskShare => {
  const { readBytes, folderBytes } = { ...defaults, ...limits }
  let measured = 0
  /** Since it was measured, by all reads. */
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

/** Pages that stay are links to the same files: each counts once. */
const sizeOf = async (folder: string): Promise<number> => {
  const met = new Set<number>()
  let size = 0
  const add = async (path: string): Promise<void> => {
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      const inside = join(path, entry.name)
      if (entry.isDirectory()) await add(inside)
      // What is renamed meanwhile is found under its new name, or the next time.
      const found = entry.isFile() ? await stat(inside).catch(() => undefined) : undefined
      if (!found || met.has(found.ino)) continue
      met.add(found.ino)
      size += found.size
    }
  }
  await add(folder)
  return size
}
