// Reads the file of a feed up to a size limit, unpacks gzip and zip, converts UTF-16 to UTF-8, and detects changes.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { asUtf8 } from '../base/utf16.js'
import { scratch } from './columns.js'
import { isZip, unzip, type Unzipped } from './zip.js'

export const maxFileBytes = 512 * 1024 * 1024

type Bytes =
  | { readonly ok: true; readonly bytes: Buffer; readonly modified: number }
  | { readonly ok: false; readonly message: string }

export const readBytes = (path: string): Bytes => {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const { size, mtimeMs } = fstatSync(file)
    if (size > maxFileBytes) return tooLarge
    const bytes = Buffer.from(scratch(size), 0, size)
    let length = 0
    while (length < size) {
      const count = readSync(file, bytes, length, size - length, null)
      if (count === 0) break
      length += count
    }
    const unpacked = unpack(bytes.subarray(0, length))
    return unpacked.ok ? { ...unpacked, modified: mtimeMs } : unpacked
  } catch (error) {
    return codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? tooLarge : { ok: false, message: whyUnreadable(error) }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** Why a file could not be read, as a phrase that follows its name. */
export const whyUnreadable = (error: unknown): string =>
  messages[codeOf(error)] ?? `cannot be read (${codeOf(error) || 'unknown error'})`

/** A list may be compressed for transfer and packed itself. */
const maxLayers = 2

const unpack = (given: Buffer): Unzipped => {
  let bytes = given
  for (let layer = 0; layer < maxLayers; layer++) {
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = gunzipSync(bytes, { maxOutputLength: maxFileBytes })
    else if (isZip(bytes)) {
      const unzipped = unzip(bytes, maxFileBytes)
      if (!unzipped.ok) return unzipped
      bytes = unzipped.bytes
    } else break
  }
  return { ok: true, bytes: asUtf8(bytes) }
}

const tooLarge = { ok: false, message: `is larger than ${maxFileBytes} bytes` } as const

const messages: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
  EISDIR: 'is a directory',
  Z_BUF_ERROR: 'is a gzip file that was cut off',
  Z_DATA_ERROR: 'is a broken gzip file',
}

/**
 * Changes with the content, after a write, a rename or a switched symbolic link: links are followed. A MISP feed is as new as its manifest.
 */
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
