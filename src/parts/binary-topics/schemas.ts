// A bounded cache of compiled schemas: each is fetched once, and retried if the registry did not answer.
import { createBoundedCache } from '../../base/bounded-cache.js'
import type { Clock } from '../../base/clock.js'
import type { Emit } from '../../telemetry/event.js'
import { UnusableSchema } from './avro-schema.js'
import { compileSchema, type ReadValue } from './compile-schema.js'
import type { RegistryClient } from './registry-client.js'
import type { SchemaKey } from './schema-id.js'

type Schemas = {
  /** The reader for its values; undefined if the schema is missing or not loaded yet. */
  readonly of: (key: SchemaKey) => ReadValue | undefined
  /** Fetches it; undefined if no answer is expected soon. */
  readonly load: (key: SchemaKey) => Promise<void> | undefined
  /** Resolves when the schema has arrived or is given up; undefined if it is not retried. */
  readonly late: (key: SchemaKey) => Promise<void> | undefined
  readonly close: () => void
}

type SchemasOptions = {
  readonly client: Pick<RegistryClient, 'schemaOf'>
  readonly clock: Clock
  readonly emit: Emit
  /** Events do not wait for a registry that takes longer than this, until it is faster again. */
  readonly slowMs: number
}

/** The cache size in characters of schemas: at least this much, and at most twice as much. */
const keptLength = 16_777_216
/** The maximum number of remembered ids without a schema. */
const maxMissing = 10_000
/** The maximum number of those that are retried because an event waits. */
const maxWaiting = 1_000
/** Token bucket for requests, because any producer can write unregistered ids: the burst, and the refill per second. */
const burst = 50
const perSecond = 10
/** Backoff for an id that the registry does not have: 30 s, doubled each time, a quarter of an hour in total. */
const missingMs = 30_000
const maxMissingTries = 5
/** Of a registry that does not answer. */
const awayMs = 1_000
const maxAwayMs = 30_000

type Known = { readonly read: ReadValue; readonly length: number }

/** An id without a schema. */
type Missing = {
  tries: number
  /** Epoch milliseconds of the next retry. */
  dueAt: number
  loading?: Promise<void> | undefined
  /** Epoch milliseconds. */
  askedAt: number
  waiting?: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined
  /** The registry has the schema, but it is unusable. */
  isRefused: boolean
}

export const createSchemas = ({ client, clock, emit, slowMs }: SchemasOptions): Schemas => {
  const known = createBoundedCache<SchemaKey, Known>(keptLength, ({ length }) => length)
  /** In the order of their first appearance. */
  const missing = new Map<SchemaKey, Missing>()
  let waiting = 0
  let tokens = burst
  let tokensAt = clock.now()
  let awaySince: number | undefined
  let awayTries = 0
  let awayUntil = 0
  /** The last answer was slow. */
  let isSlow = false
  let cancel: (() => void) | undefined
  let isClosed = false

  const mayAsk = (now: number): boolean => {
    tokens = Math.min(burst, tokens + ((now - tokensAt) / 1000) * perSecond)
    tokensAt = now
    if (tokens < 1) return false
    tokens--
    return true
  }

  /** Resolves the waits for an id. */
  const settle = (one: Missing): void => {
    if (!one.waiting) return
    waiting--
    one.waiting.resolve()
    one.waiting = undefined
  }

  const missingOf = (key: SchemaKey): Missing => {
    const found = missing.get(key)
    if (found) return found
    const fresh: Missing = { tries: 0, dueAt: 0, askedAt: 0, isRefused: false }
    missing.set(key, fresh)
    if (missing.size > maxMissing)
      for (const [old, { loading, waiting }] of missing)
        if (!loading && !waiting && old !== key) {
          missing.delete(old)
          break
        }
    return fresh
  }

  const ask = async (key: SchemaKey, one: Missing): Promise<void> => {
    const answer = await client.schemaOf(key)
    one.loading = undefined
    if (isClosed) return
    const now = clock.now()
    isSlow = now - one.askedAt > slowMs
    if (answer.status === 'away') {
      awayTries++
      awayUntil = now + Math.min(maxAwayMs, awayMs * 2 ** (awayTries - 1))
      one.dueAt = awayUntil
      if (awaySince === undefined) {
        awaySince = now
        emit({ event: 'registry_away', message: answer.message })
      }
      return
    }
    if (awaySince !== undefined) emit({ event: 'registry_back', afterMs: now - awaySince })
    awaySince = undefined
    awayTries = 0
    awayUntil = 0
    let problem = answer.status === 'missing' ? answer.message : ''
    if (answer.status === 'found') {
      try {
        const { schema, references } = answer.schema
        const length = references.reduce((sum, text) => sum + text.length, schema.length)
        known.set(key, { read: compileSchema(answer.schema), length: 1_000 + length })
        tokens = Math.min(burst, tokens + 1)
        emit({ event: 'schema_loaded', schema: String(key), kind: answer.schema.type })
        missing.delete(key)
        settle(one)
        return
      } catch (error) {
        if (!(error instanceof UnusableSchema)) throw error
        problem = `has one that ${error.message}`
        one.isRefused = true
      }
    } else one.isRefused = answer.isRefused
    one.tries++
    one.dueAt = now + missingMs * 2 ** Math.min(one.tries - 1, 10)
    if (one.tries === 1) emit({ event: 'schema_missing', schema: String(key), message: problem })
    if (one.isRefused || one.tries > maxMissingTries) settle(one)
  }

  const start = (key: SchemaKey, one: Missing, now: number): Promise<void> | undefined => {
    if (one.loading) return one.loading
    if (now < one.dueAt || now < awayUntil || !mayAsk(now)) return undefined
    one.askedAt = now
    return (one.loading = ask(key, one).then(askWaiting))
  }

  /** Retries ids that events wait for when they are due; one at a time while the registry is down. */
  const askWaiting = (): void => {
    cancel?.()
    cancel = undefined
    if (isClosed) return
    const now = clock.now()
    let next = Infinity
    for (const [key, one] of missing) {
      if (!one.waiting || one.loading) continue
      const dueAt = Math.max(one.dueAt, awayUntil)
      if (dueAt <= now && start(key, one, now)) {
        if (awaySince !== undefined) return
      } else next = Math.min(next, Math.max(dueAt, now + 100))
    }
    if (next < Infinity) cancel = clock.after(next - now, askWaiting)
  }

  return {
    of: (key) => known.get(key)?.read,
    load: (key) => {
      if (isClosed || known.get(key)) return undefined
      const one = missingOf(key)
      const now = clock.now()
      const loading = start(key, one, now)
      // 90 % of the time, because a timer may fire slightly early.
      const isLate = now - one.askedAt > 0.9 * slowMs
      return isSlow || awaySince !== undefined || isLate ? undefined : loading
    },
    late: (key) => {
      if (isClosed || known.get(key)) return undefined
      const one = missingOf(key)
      if (one.isRefused || one.tries > maxMissingTries) return undefined
      if (!one.waiting) {
        if (waiting >= maxWaiting) return undefined
        waiting++
        let resolve = (): void => undefined
        const promise = new Promise<void>((done) => (resolve = done))
        one.waiting = { promise, resolve }
        if (!cancel) askWaiting()
      }
      return one.waiting.promise
    },
    close: () => {
      isClosed = true
      cancel?.()
      for (const one of missing.values()) settle(one)
    },
  }
}
