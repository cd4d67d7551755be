// Reads the only file in a zip archive, up to a size limit, without a library: the directory is simple and zlib does the rest.
import { inflateRawSync } from 'node:zlib'

export type Unzipped = { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly message: string }

const refuse = (message: string): Unzipped => ({ ok: false, message })

export const isZip = (bytes: Buffer): boolean => bytes.length > 22 && bytes.readUInt32LE(0) === 0x04034b50

const endOfDirectory = 0x06054b50
const directoryEntry = 0x02014b50
const maxEntries = 1000
/** An archive may end in a comment of up to this length. */
const maxComment = 65_535

type Member = {
  readonly name: string
  readonly method: number
  readonly isEncrypted: boolean
  readonly packed: number
  readonly size: number
  readonly at: number
}

export const unzip = (bytes: Buffer, maxBytes: number): Unzipped => {
  const members = membersOf(bytes)
  if (!members) return refuse('is a zip archive that was cut off or is broken')
  const files = members.filter(({ name }) => !name.endsWith('/') && !/(?:^|\/)(?:__MACOSX\/|\.)/.test(name))
  const [file] = files
  if (!file || files.length > 1) return refuse(`is a zip archive of ${files.length} files; it must hold one list`)
  if (file.isEncrypted) return refuse('is a zip archive with a password')
  if (file.size > maxBytes || file.packed > bytes.length)
    return refuse(`holds more than ${maxBytes} bytes when unpacked`)
  if (file.at + 30 > bytes.length) return refuse('is a zip archive that was cut off or is broken')
  const start = file.at + 30 + bytes.readUInt16LE(file.at + 26) + bytes.readUInt16LE(file.at + 28)
  const body = bytes.subarray(start, start + file.packed)
  if (file.method === 0) return { ok: true, bytes: body }
  if (file.method !== 8) return refuse('is a zip archive packed in a way that is not known')
  try {
    // The directory may lie about the size, so the limit applies while unpacking.
    return { ok: true, bytes: inflateRawSync(body, { maxOutputLength: maxBytes }) }
  } catch (error) {
    const isBomb = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    return refuse(isBomb ? `holds more than ${maxBytes} bytes when unpacked` : 'is a broken zip archive')
  }
}

const membersOf = (bytes: Buffer): Member[] | undefined => {
  let end = bytes.length - 22
  const first = Math.max(0, end - maxComment)
  while (end >= first && bytes.readUInt32LE(end) !== endOfDirectory) end--
  if (end < first) return undefined
  const members: Member[] = []
  let at = bytes.readUInt32LE(end + 16)
  for (let left = Math.min(bytes.readUInt16LE(end + 10), maxEntries); left > 0; left--) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== directoryEntry) return undefined
    const nameLength = bytes.readUInt16LE(at + 28)
    members.push({
      name: bytes.toString('utf8', at + 46, at + 46 + nameLength),
      method: bytes.readUInt16LE(at + 10),
      isEncrypted: (bytes.readUInt16LE(at + 8) & 1) === 1,
      packed: bytes.readUInt32LE(at + 20),
      size: bytes.readUInt32LE(at + 24),
      at: bytes.readUInt32LE(at + 42),
    })
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return members
}
