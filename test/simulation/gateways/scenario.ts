// The scenario of one gateway seed as plain data: the number of gateways, their limits, and the faults.
import { below, between, createRandom, oneOf } from '../world.js'

const actKinds = [
  'kill',
  'kill_and_lose',
  'stop',
  'pause',
  'cut',
  'lose_answer',
  'broker_away',
  'all_brokers_away',
  'move_coordinators',
] as const
export type ActKind = (typeof actKinds)[number]

export type Act = {
  readonly atMs: number
  readonly kind: ActKind
  /** Its number, or -1 for the calling gateway, if any. */
  readonly gateway: number
  readonly forMs: number
}

export type GatewaysScenario = {
  readonly seed: number
  readonly brokers: number
  readonly gateways: number
  readonly concurrency: number
  readonly perDay: number
  readonly latencyMs: readonly [number, number]
  readonly acts: readonly Act[]
}

/** Longer than a session, so that calls of a killed gateway outlive its group membership. */
export const callMs = 15_000

export const drawGateways = (seed: number): GatewaysScenario => {
  const random = createRandom(seed, 'gateways')
  const gateways = 2 + below(random, 2)
  const isBudgeted = random() < 0.4
  let atMs = 8_000
  const acts = Array.from({ length: 2 + below(random, 7) }, (): Act => {
    atMs += between(random, 500, 25_000)
    return {
      atMs,
      kind: oneOf(random, actKinds),
      gateway: random() < 0.6 ? -1 : below(random, gateways),
      forMs: Math.round(between(random, 300, 25_000)),
    }
  })
  return {
    seed,
    brokers: random() < 0.5 ? 1 : 3,
    gateways,
    concurrency: 1 + below(random, 3),
    perDay: isBudgeted ? 100 + below(random, 400) : 0,
    latencyMs: random() < 0.3 ? [200, callMs - 1] : [5, 200],
    acts,
  }
}
