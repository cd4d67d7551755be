// The workers' folder with feed and rules. Reads are synchronous, because reading in a thread would leave virtual time.
import { createRequire, syncBuiltinESMExports } from 'node:module'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The current content: most executions start with the same files, and a write takes longer than hundreds of events. */
const written = new Map<string, string>()

/** Makes it the current folder; returns a function that removes it. */
export const useFolder = (): (() => void) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'threatweave-simulation-'))
  process.chdir(folder)
  written.clear()
  const promises = createRequire(import.meta.url)('node:fs/promises') as Record<string, unknown>
  const atOnce =
    (read: (...given: never[]) => unknown) =>
    (...given: unknown[]): Promise<unknown> => {
      try {
        return Promise.resolve(read(...(given as never[])))
      } catch (error) {
        return Promise.reject(error instanceof Error ? error : new Error(String(error)))
      }
    }
  Object.assign(promises, {
    stat: atOnce(fs.statSync),
    readFile: atOnce(fs.readFileSync),
    readdir: atOnce(fs.readdirSync),
    realpath: atOnce(fs.realpathSync),
  })
  syncBuiltinESMExports()
  return () => fs.rmSync(folder, { recursive: true, force: true })
}

export const writeFile = (file: string, text: string): void => {
  if (written.get(file) === text) return
  fs.writeFileSync(file, text)
  written.set(file, text)
}
