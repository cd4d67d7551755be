// Writes files all at once: into a folder beside their places, where they are checked, and then each to its place.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Name → content. */
type Files = Readonly<Record<string, string>>

export const existingOf = (folder: string, names: readonly string[]): string | undefined =>
  names.map((name) => join(folder, name)).find((path) => existsSync(path))

/** `check` gets the folder with all of them; only `files` stay, and nothing, no new folder either, if it throws. */
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

/** From the innermost folder outwards, as far as nobody put anything in. */
const removeEmpty = (folder: string, outermost: string): void => {
  if (readdirSync(folder).length > 0) return
  rmdirSync(folder)
  if (folder !== outermost) removeEmpty(dirname(folder), outermost)
}
