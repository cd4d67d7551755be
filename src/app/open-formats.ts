// Loads the bundled log formats and those of the user.
import type { FileProblem } from '../domain/problem.js'
import { resolve } from 'node:path'
import { readFormatFiles } from '../config/format-files.js'
import { checkFormats, readFormats, type FormatExample } from '../pipeline/extract/check-formats.js'
import type { FormatSpec } from '../pipeline/extract/formats.js'

/** Next to `src/` and `dist/`. */
const formatsFolder = resolve(import.meta.dirname, '../../formats')

type OpenedFormats = {
  readonly formats: readonly FormatSpec[]
  readonly problems: readonly FileProblem[]
  readonly examples: readonly FormatExample[]
}

let bundled: OpenedFormats | undefined

/** `paths`: files and folders of the user. They are checked together with the bundled ones, because no line may match two formats. */
export const openFormats = (paths: readonly string[]): OpenedFormats =>
  paths.length === 0
    ? (bundled ??= readFormats(readFormatFiles([formatsFolder]).documents))
    : load([formatsFolder, ...paths])

const load = (paths: readonly string[]): OpenedFormats => {
  const { documents, problems } = readFormatFiles(paths)
  const checked = checkFormats(documents)
  return { ...checked, problems: [...problems, ...checked.problems] }
}
