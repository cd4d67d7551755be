// Checks that the systemd service's dynamic user can reach the program and the list: all folders on the path must be open to others.
import { realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageFolder } from '../../base/package-folder.js'
import { shellWord } from '../../terminal/shell-word.js'

type Needed = { readonly path: string; readonly remedy: string }

const program: readonly Needed[] = [
  { path: process.execPath, remedy: 'install Node.js for every user' },
  { path: join(packageFolder, 'dist/cli.js'), remedy: 'install Threatweave in a folder such as /opt/threatweave' },
]

const modeOnDisk = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mode

/** An obstacle for the service with its remedy, if any. */
export const reachProblem = (list: string | undefined, needed = program, modeOf = modeOnDisk): string | undefined => {
  const own = list === undefined ? [] : [{ path: list, remedy: 'put the list into a folder such as /etc/threatweave' }]
  for (const { path, remedy } of [...needed, ...own])
    for (const place of new Set([path, realPath(path)])) {
      const obstacle = obstacleTo(place, remedy, modeOf)
      if (obstacle !== undefined) return obstacle
    }
  return undefined
}

const obstacleTo = (path: string, remedy: string, modeOf: typeof modeOnDisk): string | undefined => {
  if (/^\/(?:var\/)?tmp\//.test(path))
    return `the service has a private temporary folder and does not see ${path}: ${remedy}`
  const closed = foldersTo(path).find((folder) => isWithout(0o001, modeOf(folder)))
  if (closed !== undefined)
    return `the service runs as a separate user, which cannot enter ${closed}: ${remedy}, or open it with chmod o+x ${shellWord(closed)}`
  return isWithout(0o004, modeOf(path))
    ? `the service runs as a separate user, which cannot read ${path}: chmod o+r ${shellWord(path)}`
    : undefined
}

/** Missing paths are ignored. */
const isWithout = (bit: number, mode: number | undefined): boolean => mode !== undefined && (mode & bit) === 0

/** The outermost first. */
const foldersTo = (path: string): readonly string[] => {
  const folder = dirname(path)
  return folder === path ? [] : [...foldersTo(folder), folder]
}

const realPath = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path // the program is not built yet
  }
}
