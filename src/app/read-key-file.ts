// Reads a file with one key or other secret on a single line.
import { readFileSync } from 'node:fs'

/** Problems omit the file name: a user may have pasted a key in its place, and it must not get into a log. */
export const readKeyFile = (file: string): { readonly key: string } | { readonly problem: string } => {
  try {
    const key = readFileSync(file, 'utf8').trim()
    if (key === '') return { problem: 'names a file that is empty' }
    return /^[\x21-\x7e]{1,4096}$/.test(key)
      ? { key }
      : { problem: 'names a file that does not hold one key on one line' }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    return { problem: `names a file that cannot be read: ${code}` }
  }
}
