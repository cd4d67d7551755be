// The schemas that values were written with: fetched once, kept within bounds, and asked for again where there was no answer.
import { createBoundedCache } from '../../base/bounded-cache.js'
import type { Clock } from '../../base/clock.js'
import type { Emit } from '../../telemetry/event.js'
import { UnusableSchema } from './avro-schema.js'
import { compileSchema, type ReadValue } from './compile-schema.js'
import type { RegistryClient } from './registry-client.js'
import type { SchemaKey } from './schema-id.js'

type Schemas = {
  /** How values of it are read; undefined if that is not known, or not yet. */
  readonly of: (key: SchemaKey) => ReadValue | undefined
  /** Asks for it; resolves when that is answered, and undefined where nothing is to be expected soon. */
  readonly load: (key: SchemaKey) => Promise<void> | undefined
  /** Resolves when it is there or never comes; undefined where nobody asks for it again. */
  readonly late: (key: SchemaKey) => Promise<void> | undefined
  readonly close: () => void
}

type SchemasOptions = {
  readonly client: Pick<RegistryClient, 'schemaOf'>
  readonly clock: Clock
  readonly emit: Emit
  /** A registry that takes longer than this is not waited for until it is faster. */
  readonly slowMs: number
}

/** What is kept, in characters of schemas: at least this much, and at most twice as much. */
const keptLength = 16_777_216
/** Ids without a schema that are remembered, and so not asked for with every value. */
const maxMissing = 10_000
/** And of those, how many are asked for again because an event waits for them. */
const maxWaiting = 1_000
/** Anybody can write ids that nobody has registered: so many may be asked for at once, and so many more a second. */
const burst = 50
const perSecond = 10
/** Of an id that the registry does not have: 30 s, doubled each time, is a quarter of an hour in all. */
const missingMs = 30_000
const maxMissingTries = 5
/** Of a registry that does not answer. */
const awayMs = 1_000
const maxAwayMs = 30_000

type Known = { readonly read: ReadValue; readonly length: number }

/** An id that there is no schema for yet. */
type Missing = {
  tries: number
  /** Epoch milliseconds from which it may be asked for again. */
  dueAt: number
  loading?: Promise<void> | undefined
  /** Epoch milliseconds. */
  askedAt: number
  waiting?: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined
  /** The registry has it, and it cannot be used. */
  isRefused: boolean
}

export const createSchemas = ({ client, clock, emit, slowMs }: SchemasOptions): Schemas => {
  const known = createBoundedCache<SchemaKey, Known>(keptLength, ({ length }) => length)
  /** In the order in which they were met. */
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

  /** Who waits for it learns that it is there, or does not come. */
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

  /** Asks for what somebody waits for, as soon as it may be asked for: one at a time while the registry is away. */
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
      // Not quite the whole time, because timers may run out a moment before it by the clock.
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
