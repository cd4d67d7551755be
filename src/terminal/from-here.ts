// A path as it is typed from the folder where the program was started.
import { isAbsolute, relative } from 'node:path'

/** Relative where it is below that folder. */
export const fromHere = (path: string): string => {
  const there = relative(process.cwd(), path)
  return there.startsWith('..') || isAbsolute(there) ? path : there
}
