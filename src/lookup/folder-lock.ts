// One owner of a folder at a time: a lock file that outlives neither its owner's death nor a restart of the machine for long.
import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** A refusal to start: another live process owns the folder. */
export class FolderInUse extends Error {
  constructor(folder: string, owner: Owner | undefined) {
    const who = owner ? `process ${owner.pid} on ${owner.host}` : 'another process'
    super(`${folder} is in use by ${who}; give each process a folder of its own, or let one serve the others`)
    this.name = 'FolderInUse'
  }
}

export type FolderLock = {
  /** False when somebody else took the folder over, because this process did not move for too long. */
  readonly isHeld: () => boolean
  readonly release: () => Promise<void>
}

type Owner = { readonly pid: number; readonly host: string; readonly started?: string; readonly token: string }

const heartbeatMs = 10_000
/** An owner on another machine, who cannot be looked at, counts as dead after this long without a heartbeat. */
const silentMs = 60_000

/** Locks that this very process holds: its own process id alone does not tell them from those of a former one with the same id. */
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
  for (let attempt = 0; attempt < 10; attempt++) {
    if (await create(path, me)) return hold(path, me)
    const text = await readFile(path, 'utf8').catch(() => undefined)
    if (text === undefined) continue
    const owner = readOwner(text)
    if (await isAlive(path, owner)) throw new FolderInUse(folder, owner)
    await takeAway(path, text, me.token)
  }
  throw new FolderInUse(folder, undefined)
}

const create = async (path: string, me: Owner): Promise<boolean> => {
  try {
    await writeFile(path, JSON.stringify(me), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Moves a dead owner's lock aside; when it turns out to be the lock of somebody who was faster, it is put back. */
const takeAway = async (path: string, dead: string, token: string): Promise<void> => {
  const aside = `${path}.${token}`
  try {
    await rename(path, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  if ((await readFile(aside, 'utf8')) !== dead) await link(aside, path).catch(() => undefined)
  await rm(aside, { force: true })
}

const hold = (path: string, me: Owner): FolderLock => {
  let isHeld = true
  ours.add(me.token)
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

const isAlive = async (path: string, owner: Owner | undefined): Promise<boolean> => {
  if (owner?.host === hostname()) {
    if (owner.pid === process.pid) return ours.has(owner.token)
    if (!exists(owner.pid)) return false
    const started = await startOf(owner.pid)
    if (owner.started !== undefined && started !== undefined) return owner.started === started
  }
  const silent = await stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => Infinity,
  )
  return silent < silentMs
}

const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** When a process started, as the system counts it; tells a process from a later one with the same id. Absent where it is not told. */
const startOf = async (pid: number | 'self'): Promise<string | undefined> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The name of the program stands in parentheses and may hold anything, so fields are counted from the last one.
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
