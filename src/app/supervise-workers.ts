// Several worker processes as one: started together, each restarted when it dies, stopped together.
import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Emit } from '../telemetry/event.js'
import { exitCodes } from '../terminal/command.js'

export type Trouble = { readonly sentence: string; readonly code: number }

export type Supervision = {
  readonly count: number
  readonly command: string
  readonly args: readonly string[]
  /** Workers are numbered from 1. */
  readonly env: (worker: number) => Readonly<Record<string, string | undefined>>
  /** After this long a worker that was asked to stop is ended. */
  readonly limitMs: number
  readonly signal: AbortSignal
  readonly emit: Emit
}

/** A worker that lived this long has worked: if it ends, the next one is started soon. */
const longLifeMs = 60_000
const firstPauseMs = 500
const maxPauseMs = 30_000
/** A worker that ends like this ends like this again, until somebody changes something. */
const incurable: ReadonlySet<string> = new Set(
  [exitCodes.usage, exitCodes.configuration].map((code) => `exit code ${code}`),
)

/** Resolves with what is wrong, or with nothing after an orderly stop. */
export const supervise = async (options: Supervision): Promise<Trouble | undefined> => {
  const { count, limitMs, signal } = options
  const giveUp = new AbortController()
  const children = new Set<ChildProcess>()
  const stopping = AbortSignal.any([signal, giveUp.signal])
  let trouble: Trouble | undefined
  const keepOne = async (worker: number): Promise<void> => {
    for (let pauseMs = firstPauseMs; !stopping.aborted; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const began = Date.now()
      const end = await live(options, worker, children)
      if (isAborted(stopping)) {
        // A worker that had not even begun ends by the signal itself.
        if (end !== 'exit code 0' && end !== 'signal SIGTERM')
          trouble ??= { sentence: `worker ${worker} did not stop in order: ${end}`, code: exitCodes.failure }
        return
      }
      if (incurable.has(end)) {
        trouble ??= {
          sentence: `worker ${worker} ended with ${end}, and would again: it says why above`,
          code: exitCodes.configuration,
        }
        giveUp.abort()
        return
      }
      if (Date.now() - began >= longLifeMs) pauseMs = firstPauseMs
      options.emit({ event: 'worker_exited', worker, how: end, againInMs: pauseMs })
      await sleep(pauseMs, undefined, { signal: stopping }).catch(() => undefined)
    }
  }
  let timer: NodeJS.Timeout | undefined
  stopping.addEventListener('abort', () => {
    for (const child of children) child.kill('SIGTERM')
    timer = setTimeout(() => {
      for (const child of children) child.kill('SIGKILL')
    }, limitMs)
  })
  await Promise.all(Array.from({ length: count }, (_, index) => keepOne(index + 1)))
  clearTimeout(timer)
  return trouble
}

/** Asked again after a wait, which the type checker does not know of. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted

const live = ({ command, args, env }: Supervision, worker: number, children: Set<ChildProcess>): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(command, args, { env: env(worker), stdio: ['ignore', 'inherit', 'inherit'] })
    children.add(child)
    child.once('error', (error) => {
      children.delete(child)
      resolve(error.message)
    })
    child.once('exit', (code, signal) => {
      children.delete(child)
      resolve(signal === null ? `exit code ${code ?? -1}` : `signal ${signal}`)
    })
  })
