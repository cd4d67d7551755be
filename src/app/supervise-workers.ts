// Starts worker processes, restarts those that exit, and stops them together.
import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { workerNumberVariable, workerVariable } from '../config/environment-name.js'
import type { Emit } from '../telemetry/event.js'
import { exitCodes } from '../terminal/command.js'

export type WorkerFailure = { readonly sentence: string; readonly code: number }

type Environment = Readonly<Record<string, string | undefined>>

type Supervision = {
  readonly count: number
  readonly command: string
  readonly args: readonly string[]
  /** The initial environment of the process. */
  readonly env: Environment
  /** Settings that the worker gets once it may begin; workers are numbered from 1. */
  readonly settings: (worker: number) => Promise<Environment>
  /** A worker that has not stopped after this time is killed. */
  readonly limitMs: number
  readonly signal: AbortSignal
  readonly emit: Emit
}

/** A worker that ran this long resets the restart pause. */
const stableMs = 60_000
const firstPauseMs = 500
const maxPauseMs = 30_000
/** Exits that a restart cannot fix. */
const permanent: ReadonlySet<string> = new Set(
  [exitCodes.usage, exitCodes.configuration].map((code) => `exit code ${code}`),
)

/** Resolves with a failure, or undefined after an orderly stop. */
export const supervise = async (options: Supervision): Promise<WorkerFailure | undefined> => {
  const { count, limitMs, signal } = options
  const giveUp = new AbortController()
  const children = new Set<ChildProcess>()
  const stopping = AbortSignal.any([signal, giveUp.signal])
  let failure: WorkerFailure | undefined
  const keepRunning = async (worker: number): Promise<void> => {
    for (let pauseMs = firstPauseMs; !stopping.aborted; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const began = Date.now()
      const end = await runWorker(options, worker, children)
      if (isAborted(stopping)) {
        // The signal kills a worker that has not started yet.
        if (end !== 'exit code 0' && end !== 'signal SIGTERM')
          failure ??= { sentence: `worker ${worker} did not stop in order: ${end}`, code: exitCodes.failure }
        return
      }
      if (permanent.has(end)) {
        failure ??= {
          sentence: `worker ${worker} exited with ${end}, which a restart does not fix; see its message above`,
          code: exitCodes.configuration,
        }
        giveUp.abort()
        return
      }
      if (Date.now() - began >= stableMs) pauseMs = firstPauseMs
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
  await Promise.all(Array.from({ length: count }, (_, index) => keepRunning(index + 1)))
  clearTimeout(timer)
  return failure
}

/** Reads the signal again after an await; the type checker would assume the earlier value. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted

/**
 * A worker gets its settings over the IPC channel, so it can load libraries while this process opens the gateway. When the channel closes,
 * the worker knows that this process has exited.
 */
const runWorker = (
  { command, args, env, settings, limitMs }: Supervision,
  worker: number,
  children: Set<ChildProcess>,
): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...env, [workerVariable]: String(limitMs), [workerNumberVariable]: String(worker) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    })
    children.add(child)
    // If the worker has exited, its exit event reports that. If the settings fail, the caller stops all workers.
    settings(worker).then(
      (given) => child.connected && child.send(given, () => undefined),
      () => undefined,
    )
    child.once('error', (error) => {
      children.delete(child)
      resolve(error.message)
    })
    child.once('exit', (code, signal) => {
      children.delete(child)
      resolve(signal === null ? `exit code ${code ?? -1}` : `signal ${signal}`)
    })
  })
