// Shortens a path for display, relative to the working directory.
import { isAbsolute, relative } from 'node:path'

/** Relative if it is below the working directory, otherwise unchanged. */
export const fromHere = (path: string): string => {
  const there = relative(process.cwd(), path)
  return there.startsWith('..') || isAbsolute(there) ? path : there
}
