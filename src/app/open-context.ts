// Opens the context lookups of alerts, with their own client and budget, one call at a time.
import { createContextUpdates, type ContextUpdates } from '../alerts/context-updates.js'
import type { Clock } from '../base/clock.js'
import type { Config } from '../config/schema.js'
import { createAskContext } from '../provider/ask-context.js'
import type { Emit } from '../telemetry/event.js'
import { openClient } from './provider-client.js'

const dayMs = 86_400_000

type ContextSurroundings = {
  /** For proxy variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly emit: Emit
}

type Context = ContextUpdates & { readonly close: () => Promise<void> }

/** Undefined where alerts have none. */
export const openContext = (config: Config, { env, clock, emit }: ContextSurroundings): Context | undefined => {
  const { operations, perDay } = config.alerts.context
  if (operations.length === 0) return undefined
  const client = openClient(config, { env, clock })
  if (!client || 'problems' in client) return undefined
  const ask = createAskContext({ client, operations, mayCall: createBudget(perDay, clock.now), clock, emit })
  return { ...createContextUpdates(ask, clock.now), close: client.close }
}

const createBudget = (perDay: number, now: () => number): (() => boolean) => {
  let day = 0
  let sent = 0
  return () => {
    const today = Math.floor(now() / dayMs)
    if (today !== day) [day, sent] = [today, 0]
    return ++sent <= perDay
  }
}
