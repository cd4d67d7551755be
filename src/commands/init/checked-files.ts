// Writes files all at once: into a folder beside their places, where they are checked, and then each to its place.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Name → content. */
type Files = Readonly<Record<string, string>>

export const existingOf = (folder: string, names: readonly string[]): string | undefined =>
  names.map((name) => join(folder, name)).find((path) => existsSync(path))

/** `check` gets the folder with all of them; only `files` stay, and nothing if it throws. */
export const writeChecked = async <Result>(
  folder: string,
  { files, forCheck }: { readonly files: Files; readonly forCheck: Files },
  check: (folder: string) => Promise<Result>,
): Promise<Result> => {
  mkdirSync(folder, { recursive: true })
  const draft = mkdtempSync(join(folder, '.threatweave-init-'))
  try {
    for (const [name, text] of [...Object.entries(files), ...Object.entries(forCheck)])
      writeFileSync(join(draft, name), text)
    const result = await check(draft)
    for (const name of Object.keys(files)) renameSync(join(draft, name), join(folder, name))
    return result
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
