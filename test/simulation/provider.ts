// A simulated provider: answers about addresses like the lookup service, with a delay, and records the requests.
import type { HttpDispatcher } from '../../src/provider/connect.js'
import { between, type Process, type World } from './world.js'

/** Its behaviour: on time, late, with an error, cutting the connection, or never answering. */
export type ProviderMood = 'well' | 'slow' | 'failing' | 'cutting' | 'hanging'

export type AskedOnce = {
  readonly process: string
  readonly address: string
  readonly atMs: number
  /** When a successful answer arrived. */
  answeredMs?: number
}

export type SimulatedProvider = {
  readonly setMood: (mood: ProviderMood) => void
  readonly dispatcherFor: (process: Process) => HttpDispatcher
  readonly asked: readonly AskedOnce[]
  /** By process: the maximum number of concurrent calls. */
  readonly mostInFlight: ReadonlyMap<string, number>
}

export type ProviderOptions = {
  readonly isMalicious: (address: string) => boolean
  readonly latencyMs: readonly [least: number, most: number]
}

type Handler = Parameters<HttpDispatcher['dispatch']>[1]
type Controller = Parameters<NonNullable<Handler['onRequestStart']>>[0]

export const createProvider = (world: World, { isMalicious, latencyMs }: ProviderOptions): SimulatedProvider => {
  const asked: AskedOnce[] = []
  const mostInFlight = new Map<string, number>()
  const inFlight = new Map<string, number>()
  const random = world.random('provider')
  let mood: ProviderMood = 'well'

  const change = (label: string, by: number): void => {
    const now = (inFlight.get(label) ?? 0) + by
    inFlight.set(label, now)
    mostInFlight.set(label, Math.max(now, mostInFlight.get(label) ?? 0))
  }

  const dispatch = (process: Process, path: string, handler: Handler): void => {
    const address = new URL(path, 'http://provider.example').searchParams.get('ip') ?? path
    const call: AskedOnce = { process: process.label, address, atMs: world.ms }
    let isOver = false
    const end = (): boolean => {
      if (isOver) return false
      isOver = true
      change(process.label, -1)
      return true
    }
    const controller = {
      aborted: false,
      paused: false,
      reason: null,
      abort: (reason: Error) => {
        if (end()) process.post(() => handler.onResponseError?.(controller, reason))
      },
      pause: () => undefined,
      resume: () => undefined,
    } as unknown as Controller
    asked.push(call)
    change(process.label, 1)
    world.log(`asks the provider about ${address}`)
    handler.onRequestStart?.(controller, {})
    if (mood === 'hanging') return
    const [least, most] = latencyMs
    const ms = between(random, least, most) * (mood === 'slow' ? 20 : 1)
    const kind = mood
    world.after(
      ms,
      () => {
        if (!end()) return
        if (kind === 'cutting') {
          handler.onResponseError?.(controller, Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
          return
        }
        const isGood = kind !== 'failing'
        if (isGood) call.answeredMs = world.ms
        const body = isGood
          ? { ip: address, is_malicious: isMalicious(address), status: 200 }
          : { status: 500, message: 'internal server error' }
        handler.onResponseStart?.(controller, isGood ? 200 : 500, { 'content-type': 'application/json' })
        handler.onResponseData?.(controller, Buffer.from(JSON.stringify(body)))
        handler.onResponseEnd?.(controller, {})
      },
      process,
    )
  }

  return {
    setMood: (next) => {
      world.log(`the provider is ${next}`)
      mood = next
    },
    dispatcherFor: (process) => ({
      dispatch: ({ path }, handler) => {
        dispatch(process, path, handler)
        return true
      },
      connect: () => Promise.reject(new Error('this provider is not a gateway')),
      destroy: () => Promise.resolve(),
    }),
    asked,
    mostInFlight,
  }
}
