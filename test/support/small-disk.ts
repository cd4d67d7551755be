// A real file system of a few kilobytes that tests fill or make read-only; needs root.
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type SmallDisk = {
  readonly path: string
  /** Uses up all free space. */
  readonly fill: () => void
  readonly free: () => void
  readonly makeReadOnly: () => void
  readonly makeWritable: () => void
  readonly unmount: () => void
}

const mount = (...args: string[]): void => void execFileSync('mount', args, { stdio: 'pipe' })

export const mountSmallDisk = (kilobytes: number): SmallDisk => {
  const path = mkdtempSync(join(tmpdir(), 'small-disk-'))
  mount('-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'none', path)
  const ballast = join(path, 'ballast')
  return {
    path,
    fill: () => {
      const file = openSync(ballast, 'a')
      try {
        while (writeSync(file, Buffer.alloc(4096)) > 0);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast),
    makeReadOnly: () => mount('-o', 'remount,ro', path),
    makeWritable: () => mount('-o', 'remount,rw', path),
    unmount: () => {
      execFileSync('umount', ['--lazy', path], { stdio: 'pipe' })
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/** Always false in CI, where such a test must run or fail. */
export const cannotMount = (): boolean => {
  if (process.env.CI !== undefined) return false
  try {
    mountSmallDisk(64).unmount()
    return false
  } catch {
    process.stderr.write('file systems cannot be mounted here, so that tests with a full disk are skipped\n')
    return true
  }
}
