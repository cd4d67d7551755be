// Writes several files together: into a temporary folder, where they are checked, then each to its final place.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Name → content. */
type Files = Readonly<Record<string, string>>

export const existingOf = (folder: string, names: readonly string[]): string | undefined =>
  names.map((name) => join(folder, name)).find((path) => existsSync(path))

/** `check` gets the temporary folder. If it throws, neither files nor new folders remain. */
export const writeChecked = async <Result>(
  folder: string,
  { files, forCheck }: { readonly files: Files; readonly forCheck: Files },
  check: (folder: string) => Promise<Result>,
): Promise<Result> => {
  const outermost = mkdirSync(folder, { recursive: true })
  let isWritten = false
  try {
    const draft = mkdtempSync(join(folder, '.threatweave-init-'))
    try {
      for (const [name, text] of [...Object.entries(files), ...Object.entries(forCheck)])
        writeFileSync(join(draft, name), text)
      const result = await check(draft)
      for (const name of Object.keys(files)) {
        renameSync(join(draft, name), join(folder, name))
        isWritten = true
      }
      return result
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
  } finally {
    if (outermost !== undefined && !isWritten) removeEmpty(folder, outermost)
  }
}

/** Removes empty folders from the innermost outwards. */
const removeEmpty = (folder: string, outermost: string): void => {
  if (readdirSync(folder).length > 0) return
  rmdirSync(folder)
  if (folder !== outermost) removeEmpty(dirname(folder), outermost)
}
