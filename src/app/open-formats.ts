// Loads the bundled log formats and the user's own.
import type { FileProblem } from '../domain/problem.js'
import { join } from 'node:path'
import { packageFolder } from '../base/package-folder.js'
import { readFormatFiles } from '../config/format-files.js'
import { checkFormats, readFormats, type FormatExample } from '../pipeline/extract/check-formats.js'
import type { FormatSpec } from '../pipeline/extract/formats.js'

const formatsFolder = join(packageFolder, 'formats')

type OpenedFormats = {
  readonly formats: readonly FormatSpec[]
  readonly problems: readonly FileProblem[]
  readonly examples: readonly FormatExample[]
}

let bundled: OpenedFormats | undefined

/** Checks the user's files and folders together with the bundled formats, because no line may match two formats. */
export const openFormats = (paths: readonly string[]): OpenedFormats =>
  paths.length === 0
    ? (bundled ??= readFormats(readFormatFiles([formatsFolder]).documents))
    : load([formatsFolder, ...paths])

const load = (paths: readonly string[]): OpenedFormats => {
  const { documents, problems } = readFormatFiles(paths)
  const checked = checkFormats(documents)
  return { ...checked, problems: [...problems, ...checked.problems] }
}
