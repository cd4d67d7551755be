// The provider of the gateways: counts a call until it is answered, even if its sender has died; one gateway at a time may call.
import { between, type Process, type World } from '../world.js'
import type { GatewaysScenario } from './scenario.js'

export type CountingProvider = {
  readonly call: (process: Process) => Promise<{ readonly status: string }>
  readonly calls: () => number
  readonly lastCallMs: () => number
}

/** Calls `tooMany` if a gateway calls while another has calls in flight, or exceeds its own limit. */
export const createCountingProvider = (
  world: World,
  { concurrency, latencyMs }: GatewaysScenario,
  tooMany: (what: string) => void,
): CountingProvider => {
  const inFlight = new Map<string, number>()
  const latency = world.random('provider')
  let calls = 0
  let lastCallMs = -Infinity
  const change = ({ label }: Process, by: number): void => void inFlight.set(label, (inFlight.get(label) ?? 0) + by)

  const check = ({ label }: Process): void => {
    const others = [...inFlight].filter(([other, count]) => other !== label && count > 0)
    const all = [...inFlight.values()].reduce((sum, count) => sum + count, 0)
    if (others.length === 0 && all <= concurrency) return
    const names = others.map(([other]) => other).join(', ')
    tooMany(`at ${Math.round(world.ms)} ms ${label} calls while ${names || 'too many of its own'} are in flight`)
  }

  return {
    calls: () => calls,
    lastCallMs: () => lastCallMs,
    call: (process) => {
      calls++
      lastCallMs = world.ms
      change(process, 1)
      world.log(`${process.label} calls the provider`)
      check(process)
      return new Promise((resolve) => {
        const answer = (): void => {
          change(process, -1)
          if (process.isAlive) process.post(() => resolve({ status: 'answer' }))
        }
        world.after(between(latency, ...latencyMs), answer, world.outside)
      })
    },
  }
}
