// One owner of a folder at a time: a lock file that outlives neither its owner's death nor a restart of the machine for long.
import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rm, stat, utimes, type FileHandle } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A refusal to start: another live process owns the folder. */
export class FolderInUse extends Error {
  constructor(folder: string, owner: Owner | undefined) {
    const who = owner ? `process ${owner.pid} on ${owner.host}` : 'another process'
    super(`${folder} is in use by ${who}; give each process a folder of its own, or let one serve the others`)
    this.name = 'FolderInUse'
  }
}

type FolderLock = {
  /** False when somebody else took the folder over, because this process did not move for too long. */
  readonly isHeld: () => boolean
  readonly release: () => Promise<void>
}

type Owner = { readonly pid: number; readonly host: string; readonly started?: string; readonly token: string }

const heartbeatMs = 10_000
/** An owner on another machine, who cannot be looked at, counts as dead after this long without a heartbeat. */
const silentMs = 60_000
/** Following a dead owner takes milliseconds; a process that needs longer has died while doing it. */
const takingMs = 10_000
const retryMs = 20
const attempts = 250
/** A lock that names no owner for so many attempts has none: its process died, or its disk was full, before the name was written. */
const ownerlessAttempts = 50

/** Locks that this very process holds: its own process id alone does not distinguish them from those of a former one with the same id. */
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
  // Before the file is there, so that nobody in this process takes it for a dead one's.
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
    // A full disk must not leave a lock behind that nobody holds.
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/**
 * Removes a dead owner's lock. Only one process at a time may: otherwise a slow one could remove the lock of a fast one
 * that has already followed the dead owner.
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

/** Milliseconds since a file last changed; Infinity when it is gone. */
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

/** When a process started, as the system counts it; distinguishes a process from a later one with the same id. Absent where the system does not say. */
const startOf = async (pid: number | 'self'): Promise<string | undefined> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The name of the program is in parentheses and may hold anything, so fields are counted from the last one.
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
