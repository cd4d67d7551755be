// Locks a folder for one owner with a lock file, which expires soon after its owner's death or a restart of the machine.
import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rm, stat, utimes, type FileHandle } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A refusal to start because another live process owns the folder. */
export class FolderInUse extends Error {
  constructor(folder: string, owner: Owner | undefined) {
    const who = owner ? `process ${owner.pid} on ${owner.host}` : 'another process'
    super(`${folder} is in use by ${who}; give each process a folder of its own, or let one serve the others`)
    this.name = 'FolderInUse'
  }
}

type FolderLock = {
  /** False if another process took over the folder, because this process stalled too long. */
  readonly isHeld: () => boolean
  readonly release: () => Promise<void>
}

type Owner = { readonly pid: number; readonly host: string; readonly started?: string; readonly token: string }

const heartbeatMs = 10_000
/** An owner on another machine cannot be checked, so it counts as dead after this long without a heartbeat. */
const silentMs = 60_000
/** Taking over from a dead owner takes milliseconds, so a process that needs longer died doing it. */
const takingMs = 10_000
const retryMs = 20
const attempts = 250
/** A lock that names no owner for this many attempts is abandoned: its process died, or its disk was full, before the owner was written. */
const ownerlessAttempts = 50

/** The locks of this process. A process id alone does not distinguish them from those of an earlier process with the same id. */
const ours = new Set<string>()

export const lockFolder = async (folder: string): Promise<FolderLock> => {
  const path = join(folder, 'lock')
  const started = await startOf('self')
  const me: Owner = {
    pid: process.pid,
    host: hostname(),
    token: randomUUID(),
    ...(started !== undefined && { started }),
  }
  // Added before the file exists, so that this process does not take its lock for one of a dead process.
  ours.add(me.token)
  let ownerless = 0
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (await create(path, me)) return hold(path, me)
    const text = await readFile(path, 'utf8').catch(() => undefined)
    if (text === undefined) continue
    const owner = readOwner(text)
    if (!owner && ++ownerless < ownerlessAttempts) {
      await sleep(retryMs)
      continue
    }
    if (owner && (await isAlive(path, owner))) throw new FolderInUse(folder, owner)
    await removeDead(path, text)
  }
  throw new FolderInUse(folder, undefined)
}

const create = async (path: string, me: Owner): Promise<boolean> => {
  let file: FileHandle
  try {
    file = await open(path, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  try {
    await file.writeFile(JSON.stringify(me))
    return true
  } catch (error) {
    // A full disk must not leave an orphaned lock behind.
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/**
 * Removes the lock of a dead owner. Only one process may do so at a time: otherwise a slow one could remove the lock of a fast one that has
 * already taken over.
 */
const removeDead = async (path: string, dead: string): Promise<void> => {
  const taking = `${path}.taking`
  try {
    await mkdir(taking)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if ((await ageOf(taking)) > takingMs) await rm(taking, { recursive: true, force: true })
    else await sleep(retryMs)
    return
  }
  if ((await readFile(path, 'utf8').catch(() => undefined)) === dead) await rm(path, { force: true })
  await rm(taking, { recursive: true, force: true })
}

/** Milliseconds since a file last changed; Infinity if it does not exist. */
const ageOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => Infinity,
  )

const hold = (path: string, me: Owner): FolderLock => {
  let isHeld = true
  const beat = async (): Promise<void> => {
    const owner = readOwner(await readFile(path, 'utf8').catch(() => ''))
    if (owner?.token !== me.token) isHeld = false
    else await utimes(path, new Date(), new Date()).catch(() => undefined)
  }
  const timer = setInterval(() => void beat(), heartbeatMs).unref()
  return {
    isHeld: () => isHeld,
    release: async () => {
      clearInterval(timer)
      await beat()
      ours.delete(me.token)
      if (isHeld) await rm(path, { force: true })
      isHeld = false
    },
  }
}

const isAlive = async (path: string, owner: Owner): Promise<boolean> => {
  if (owner.host === hostname()) {
    if (owner.pid === process.pid) return ours.has(owner.token)
    if (!exists(owner.pid)) return false
    const started = await startOf(owner.pid)
    if (owner.started !== undefined && started !== undefined) return owner.started === started
  }
  return (await ageOf(path)) < silentMs
}

const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * The start time of a process as counted by the system, which distinguishes it from a later one with the same id. Undefined if the system
 * does not provide it.
 */
const startOf = async (pid: number | 'self'): Promise<string | undefined> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The program name is in parentheses and may contain anything, so fields are counted after the last parenthesis.
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19]
}

const readOwner = (text: string): Owner | undefined => {
  try {
    const owner = JSON.parse(text) as Partial<Owner> | null
    if (typeof owner?.pid !== 'number' || typeof owner.host !== 'string' || typeof owner.token !== 'string')
      return undefined
    return Number.isInteger(owner.pid) && owner.pid > 0 ? (owner as Owner) : undefined
  } catch {
    return undefined
  }
}
