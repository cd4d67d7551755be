// What changes about a path when its content does: by writing, by rename, or by a symbolic link that points elsewhere.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Follows links, so a swapped link shows as another file. A MISP feed is as new as its manifest. */
export const signatureOf = async (path: string): Promise<string> => {
  try {
    const found = await stat(path, { bigint: true })
    const { dev, ino, size, mtimeNs, ctimeNs } = found.isDirectory()
      ? await stat(join(path, 'manifest.json'), { bigint: true })
      : found
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
  }
}
