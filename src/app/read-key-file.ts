// Reads a file that holds one key, or another secret, on one line.
import { readFileSync } from 'node:fs'

/** Without the name of the file: who pastes a key there must not find it in a log. */
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
