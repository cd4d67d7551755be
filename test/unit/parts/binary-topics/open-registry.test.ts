// Values with a schema of a registry that is there, slow, away, wrong or hostile: a real HTTP server that counts.
import { describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../../src/base/clock.js'
import type { RecordOrigin } from '../../../../src/pipeline/batch/cut-batch.js'
import { openRegistry } from '../../../../src/parts/binary-topics/open-registry.js'
import { createRegistryClient } from '../../../../src/parts/binary-topics/registry-client.js'
import type { TelemetryEvent } from '../../../../src/telemetry/event.js'
import { startRegistry, type RegistryServer } from '../../../support/registry-server.js'

const schema = { schema: JSON.stringify({ type: 'record', name: 'R', fields: [{ name: 'ip', type: 'string' }] }) }
const payload = Buffer.concat([Buffer.from([0x18]), Buffer.from('203.0.113.66')])
const withId = (id: number, value = payload): Buffer => {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(id, 1)
  return Buffer.concat([head, value])
}

type Headers = RecordOrigin['headers']
const record = (value: Buffer, headers: Headers = []): RecordOrigin & { readonly value: Buffer } => ({
  topic: 'flows',
  headers,
  value,
})

type Opened = {
  /** What is read of values once they were waited for; or why they are not. */
  readonly read: (...values: readonly (Buffer | RecordOrigin)[]) => Promise<readonly string[]>
  readonly registry: ReturnType<typeof openRegistry>
  readonly events: readonly TelemetryEvent[]
}

const open = (
  url: string,
  deadlineMs = 60_000,
  login: Partial<Parameters<typeof createRegistryClient>[0]> = {},
): Opened => {
  const events: TelemetryEvent[] = []
  const registry = openRegistry({
    client: createRegistryClient({ url, username: '', password: '', token: '', ...login }, { env: {}, now: Date.now }),
    isOurs: () => true,
    cuts: true,
    deadlineMs,
    clock: systemClock,
    emit: (event) => void events.push(event),
  })
  return {
    registry,
    events,
    read: async (...values) => {
      const records = values.map((value) =>
        Buffer.isBuffer(value) ? record(value) : (value as ReturnType<typeof record>),
      )
      await registry.prepare(records)
      return records.map((one) => {
        const { content, unread, place, format } = registry.open(one.value, one)
        expect({ place, format }).toEqual({ place: 'header', format: 'registry' })
        return unread ? unread.reason : (content ?? Buffer.alloc(0)).toString()
      })
    },
  }
}

const using = async (
  server: RegistryServer | string,
  use: (opened: Opened) => Promise<void>,
  deadlineMs?: number,
): Promise<void> => {
  const opened = open(typeof server === 'string' ? server : server.url, deadlineMs)
  try {
    await use(opened)
  } finally {
    await opened.registry.close()
  }
}

const json = '{"ip":"203.0.113.66"}'

describe('a value with a schema id', () => {
  it('is read by its schema, which is asked for once however many values there are', async () => {
    const server = await startRegistry()
    server.put(7, schema)
    await using(server, async ({ read }) => {
      expect(await Promise.all([read(withId(7), withId(7)), read(withId(7))])).toEqual([[json, json], [json]])
      expect(await read(withId(7))).toEqual([json])
    })
    expect(server.asked).toEqual(['/apis/schemas/ids/7'])
  })

  it('has it in a header, as an id or a GUID, or in front; the header counts first', async () => {
    const server = await startRegistry()
    server.put(7, schema)
    server.put('00112233-4455-6677-8899-aabbccddeeff', schema)
    const guid = Buffer.from('0100112233445566778899aabbccddeeff', 'hex')
    await using(server, async ({ read }) => {
      expect(
        await read(
          record(payload, [['__value_schema_id', withId(7).subarray(0, 5)]]),
          record(payload, [['__value_schema_id', guid]]),
          Buffer.concat([guid, payload]),
          record(payload, [['__value_schema_id', Buffer.from('7')]]),
          record(withId(7), [['__key_schema_id', guid]]),
        ),
      ).toEqual([json, json, json, 'not_decoded', json])
    })
  })

  it('is JSON behind the id where the schema is JSON Schema', async () => {
    const server = await startRegistry()
    server.put(9, { schemaType: 'JSON', schema: '{"type":"object"}' })
    await using(server, async ({ read, registry }) => {
      expect(await read(withId(9, Buffer.from('{"ip":"198.51.100.7"}')))).toEqual(['{"ip":"198.51.100.7"}'])
      const many = withId(9, Buffer.from('[{"a":1},{"a":2}]'))
      expect(registry.open(many, record(many)).members).toHaveLength(2)
    })
  })

  it('is read with the schemas that its own refers to, each asked for once', async () => {
    const server = await startRegistry()
    const references = [
      { name: 'a.B', subject: 'b value', version: 2 },
      { name: 'a.C', subject: 'c', version: 1 },
    ]
    const fields = [
      { name: 'b', type: 'a.B' },
      { name: 'c', type: 'a.C' },
    ]
    server.put(1, { schema: JSON.stringify({ type: 'record', name: 'R', fields }), references })
    server.put('b value/2', {
      schema: JSON.stringify({ type: 'record', name: 'a.B', fields: [{ name: 'c', type: 'C' }] }),
      references: [{ name: 'a.C', subject: 'c', version: 1 }],
    })
    server.put('c/1', { schema: JSON.stringify({ type: 'enum', name: 'a.C', symbols: ['X', 'Y'] }) })
    await using(server, async ({ read }) => {
      expect(await read(withId(1, Buffer.from([2, 0])))).toEqual(['{"b":{"c":"Y"},"c":"X"}'])
    })
    expect(server.asked).toHaveLength(3)
  })

  it('is not read where it is not what its schema says, or has none', async () => {
    const server = await startRegistry()
    server.put(7, schema)
    await using(server, async ({ read }) => {
      expect(
        await read(
          withId(7, Buffer.from([1])),
          Buffer.from('{"ip":"203.0.113.66"}'),
          Buffer.alloc(0),
          Buffer.from([0, 0]),
        ),
      ).toEqual(['not_decoded', 'not_decoded', 'not_decoded', 'not_decoded'])
    })
    expect(server.asked).toEqual(['/apis/schemas/ids/7'])
  })

  it.each([
    [
      'a name and a password',
      { username: 'me', password: 'sesame' },
      `Basic ${Buffer.from('me:sesame').toString('base64')}`,
    ],
    ['a token', { token: 'open' }, 'Bearer open'],
  ])('asks with %s', async (_, login, sent) => {
    const server = await startRegistry()
    server.put(7, schema)
    const { read, registry } = open(server.url, 60_000, login)
    expect(await read(withId(7))).toEqual([json])
    expect(server.logins).toEqual([sent])
    await registry.close()
  })
})

describe('a registry', () => {
  it('that does not have an id is not asked for it again with every value', async () => {
    const server = await startRegistry()
    await using(server, async ({ read, events }) => {
      for (let nth = 0; nth < 20; nth++) expect(await read(withId(3))).toEqual(['no_schema'])
      expect(events).toEqual([{ event: 'schema_missing', schema: '3', message: 'does not have it (HTTP 404)' }])
    })
    expect(server.asked).toEqual(['/apis/schemas/ids/3'])
  })

  it('is asked for a bounded number of ids that nobody registered', async () => {
    const server = await startRegistry()
    await using(server, async ({ read }) => {
      const values = Array.from({ length: 20_000 }, (_, id) => withId(1_000_000 + id))
      expect(new Set(await read(...values))).toEqual(new Set(['no_schema']))
    })
    expect(server.asked.length).toBeGreaterThan(0)
    expect(server.asked.length).toBeLessThan(1_000)
  })

  it('is asked again for a bounded number of ids that events wait for', async () => {
    const server = await startRegistry()
    await using(server, ({ registry }) => {
      const lates = Array.from({ length: 3_000 }, (_, id) => registry.open(withId(id), record(withId(id))).unread?.late)
      expect(lates.filter((late) => late !== undefined)).toHaveLength(1_000)
      return Promise.resolve()
    })
  })

  it('that is away at the start is told of once, and what waits for it is known when it is there', async () => {
    const before = await startRegistry()
    const { port, url } = before
    await before.close()
    await using(url, async ({ read, registry, events }) => {
      for (let nth = 0; nth < 50; nth++) expect(await read(withId(7))).toEqual(['no_schema'])
      const late = registry.open(withId(7), record(withId(7))).unread?.late
      expect(late).toBeInstanceOf(Promise)
      const server = await startRegistry(port)
      server.put(7, schema)
      await late
      expect(await read(withId(7))).toEqual([json])
      expect(events.map(({ event }) => event)).toEqual(['registry_away', 'registry_back', 'schema_loaded'])
    })
  })

  it.each([
    ['answers 500', 500, 'answers HTTP 500'],
    ['answers 429', 429, 'answers HTTP 429'],
    ['refuses the login', 401, 'refuses the login (HTTP 401); check kafka.registry'],
  ])('that %s in the middle keeps what is known, and is asked again', async (_, status, message) => {
    const server = await startRegistry()
    server.put(7, schema)
    server.put(8, schema)
    await using(server, async ({ read, registry, events }) => {
      expect(await read(withId(7))).toEqual([json])
      server.fail = (_request, response) => void response.writeHead(status).end('no')
      expect(await read(withId(7), withId(8))).toEqual([json, 'no_schema'])
      expect(events).toContainEqual({ event: 'registry_away', message })
      server.fail = undefined
      await registry.open(withId(8), record(withId(8))).unread?.late
      expect(await read(withId(8))).toEqual([json])
    })
  })

  it('that is slow is waited for once, and what it says late is used', async () => {
    const server = await startRegistry()
    server.put(7, schema)
    const held: (() => void)[] = []
    const put = server.fail
    server.fail = (_request, response) => void held.push(() => void response.end(JSON.stringify(schema)))
    await using(
      server,
      async ({ read, registry }) => {
        expect(await read(withId(7))).toEqual(['no_schema'])
        for (let nth = 0; nth < 1_000; nth++) expect(registry.prepare([record(withId(7))])).toBeUndefined()
        const late = registry.open(withId(7), record(withId(7))).unread?.late
        await vi.waitFor(() => expect(held.length).toBeGreaterThan(0), { timeout: 600_000 })
        server.fail = put
        for (const answer of held) answer()
        await late
        expect(await read(withId(7))).toEqual([json])
      },
      200,
    )
  })

  it.each([
    ['what is no JSON', 'oops', 'no_schema'],
    ['a web page', '<html>', 'no_schema'],
    ['no schema', '{"schema":7}', 'no_schema'],
    ['a list', '[]', 'no_schema'],
    ['a schema that is none', '{"schema":"{"}', 'no_schema'],
    ['a schema of an unknown kind', '{"schema":"x","schemaType":"XML"}', 'no_schema'],
    ['a schema of another value', JSON.stringify({ schema: '"int"' }), 'not_decoded'],
    [
      'a schema that only calls itself',
      JSON.stringify({ schema: '{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}' }),
      'not_decoded',
    ],
    ['a schema of 50 MB', `{"schema":"${' '.repeat(50_000_000)}"}`, 'no_schema'],
    [
      'a reference to nothing',
      JSON.stringify({ ...schema, references: [{ name: 'a', subject: 'a', version: 1 }] }),
      'no_schema',
    ],
    ['references that are none', JSON.stringify({ ...schema, references: [{ name: 'a' }] }), 'no_schema'],
  ])('that answers %s stops nothing', async (_, body, reason) => {
    const server = await startRegistry()
    server.fail = ({ url }, response) => {
      response.writeHead(url === '/apis/schemas/ids/7' ? 200 : 404)
      response.end(body)
    }
    await using(server, async ({ read }) => {
      expect(await read(withId(7))).toEqual([reason])
    })
  })

  it('whose schemas refer to each other without end is asked a bounded number of times', async () => {
    const server = await startRegistry()
    let next = 0
    server.fail = (_request, response) => {
      next++
      response.end(JSON.stringify({ ...schema, references: [{ name: 'a', subject: `s${next}`, version: 1 }] }))
    }
    await using(server, async ({ read }) => {
      expect(await read(withId(7))).toEqual(['no_schema'])
    })
    expect(server.asked.length).toBeLessThan(300)
  })
})
