// Decodes values of topics in the format `registry`: loads missing schemas first, then reads each value by its schema.
import type { SchemaValues } from '../../app/part.js'
import type { Clock } from '../../base/clock.js'
import type { Unread } from '../../domain/unread.js'
import { asOneEvent, type OpenValue } from '../../pipeline/batch/open-by-topic.js'
import { inside } from '../../pipeline/batch/open-record.js'
import type { PrepareRecords } from '../../pipeline/pipeline.js'
import type { Emit } from '../../telemetry/event.js'
import { Undecodable } from './reading.js'
import type { RegistryClient } from './registry-client.js'
import { schemaIdOf, type SchemaKey } from './schema-id.js'
import { createSchemas } from './schemas.js'

type RegistryOptions = {
  readonly client: RegistryClient
  /** Whether a record is of that format. */
  readonly isOurs: (record: Parameters<PrepareRecords>[0][number]) => boolean
  /** Whether a value may contain many events, as JSON can. */
  readonly cuts: boolean
  /** The total time that the records of a fetch wait for schemas. */
  readonly deadlineMs: number
  readonly clock: Clock
  readonly emit: Emit
}

const notDecoded: Unread = { reason: 'not_decoded' }

export const openRegistry = ({ client, isOurs, cuts, deadlineMs, clock, emit }: RegistryOptions): SchemaValues => {
  const schemas = createSchemas({ client, clock, emit, slowMs: deadlineMs })

  const prepare: PrepareRecords = (records) => {
    let seen: Set<SchemaKey> | undefined
    let loading: Promise<void>[] | undefined
    for (const record of records) {
      if (record.value === null || !isOurs(record)) continue
      const id = schemaIdOf(record.value, record)
      if (!id || schemas.of(id.key) || seen?.has(id.key)) continue
      ;(seen ??= new Set()).add(id.key)
      const load = schemas.load(id.key)
      if (load) (loading ??= []).push(load)
    }
    if (!loading || deadlineMs === 0) return undefined
    return within(Promise.all(loading), deadlineMs, clock)
  }

  const open: OpenValue = (bytes, record) => {
    const id = schemaIdOf(bytes, record)
    const read = id && schemas.of(id.key)
    if (!id || !read) return unread(bytes, id ? { reason: 'no_schema', late: schemas.late(id.key) } : notDecoded)
    try {
      const content = read(bytes, id)
      return cuts ? { ...inside(content, 'header'), format: 'registry' } : asOneEvent(content, 'registry')
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error
      return unread(bytes, notDecoded)
    }
  }

  return {
    open,
    prepare,
    close: async () => {
      schemas.close()
      await client.close()
    },
  }
}

const unread = (bytes: Buffer, why: Unread): ReturnType<OpenValue> => ({
  ...asOneEvent(bytes, 'registry'),
  unread: why,
})

/** Resolves when the work is done, or after the time limit. */
const within = (work: Promise<unknown>, ms: number, clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    const cancel = clock.after(ms, resolve)
    void work.then(() => {
      cancel()
      resolve()
    })
  })
