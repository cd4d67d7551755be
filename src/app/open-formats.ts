// Loads the log formats that come with the program, once, and those of the user.
import { resolve } from 'node:path'
import { readFormatFiles, type FileProblem } from '../config/format-files.js'
import { checkFormats } from '../pipeline/check-formats.js'
import type { FormatSpec } from '../pipeline/read/formats.js'

/** Beside `src/` and beside `dist/`. */
export const formatsFolder = resolve(import.meta.dirname, '../../formats')

export type OpenedFormats = { readonly formats: readonly FormatSpec[]; readonly problems: readonly FileProblem[] }

let shipped: OpenedFormats | undefined

/** `paths`: files and folders with formats of the user's own. They are checked together with the others: no line may be two formats' own. */
export const openFormats = (paths: readonly string[]): OpenedFormats =>
  paths.length === 0 ? (shipped ??= load([formatsFolder])) : load([formatsFolder, ...paths])

const load = (paths: readonly string[]): OpenedFormats => {
  const { documents, problems } = readFormatFiles(paths)
  const checked = checkFormats(documents)
  return { formats: checked.formats, problems: [...problems, ...checked.problems] }
}
