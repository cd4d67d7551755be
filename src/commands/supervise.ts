// Several worker processes as one: started together, each restarted when it dies, stopped together.
import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Tell } from '../telemetry/event.js'

export type Supervision = {
  readonly count: number
  readonly command: string
  readonly args: readonly string[]
  /** Workers are numbered from 1. */
  readonly env: (worker: number) => Readonly<Record<string, string | undefined>>
  /** After this long a worker that was asked to stop is ended. */
  readonly limitMs: number
  readonly signal: AbortSignal
  readonly tell: Tell
}

/** A worker that ends within this long of its start has not worked. */
const shortLifeMs = 30_000
const maxShortLives = 3

/** Resolves with what is wrong, or with nothing after an orderly stop. */
export const supervise = async (options: Supervision): Promise<string | undefined> => {
  const { count, limitMs, signal } = options
  const giveUp = new AbortController()
  const children = new Set<ChildProcess>()
  const stopping = AbortSignal.any([signal, giveUp.signal])
  let trouble: string | undefined
  const keepOne = async (worker: number): Promise<void> => {
    for (let shortLives = 0; !stopping.aborted;) {
      const began = Date.now()
      const end = await live(options, worker, children)
      if (isAborted(stopping)) {
        // A worker that had not even begun ends by the signal itself.
        if (end !== 'exit code 0' && end !== 'signal SIGTERM')
          trouble ??= `worker ${worker} did not stop in order: ${end}`
        return
      }
      shortLives = Date.now() - began < shortLifeMs ? shortLives + 1 : 1
      options.tell({ event: 'worker_ended', worker, how: end })
      if (shortLives >= maxShortLives) {
        trouble ??= `worker ${worker} ended ${shortLives} times right after its start, last with ${end}`
        giveUp.abort()
        return
      }
      await sleep(500 * shortLives, undefined, { signal: stopping }).catch(() => undefined)
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
