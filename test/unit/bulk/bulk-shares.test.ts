// What bulk connections may hold: for one key, and for all of them.
import { ownReader } from '../../support/own-reader.js'
import { createServer, type IncomingMessage } from 'node:http'
import { Duplex } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { acceptBulk } from '../../../src/bulk/accept-bulk.js'
import { bulkSourceOf } from '../../../src/server/bulk-source.js'
import { createBulkShares, type BulkShare, type BulkShares } from '../../../src/bulk/bulk-shares.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { oneCallEachHeader } from '../../support/operation-choices.js'

type BulkBounds = NonNullable<Parameters<typeof createBulkShares>[1]>

/** A stream that nobody reads. */
const unread = (): Duplex => new Duplex({ read: () => undefined, write: () => undefined })

const note = (event: TelemetryEvent, reached: string[]): void => {
  if (event.event === 'bulk_limit_reached') reached.push(`${event.key} ${event.reason}`)
}

const setUp = () => {
  const reached: string[] = []
  const shares = createBulkShares((event) => note(event, reached), {
    connections: { ofKey: 2, inAll: 3 },
    questions: { ofKey: 2, inAll: 3 },
    unreadBytes: { ofKey: 1_000, inAll: 1_500 },
  })
  return { shares, reached }
}

const opened = (shares: BulkShares, key: string, stream = unread()): BulkShare & { stream: Duplex } => {
  const share = shares.open(key, stream)
  return share ? { ...share, stream } : expect.fail('there is no share')
}
const closed = (stream: Duplex): Promise<void> => new Promise((done) => stream.destroy().once('close', () => done()))

describe('shares of bulk connections', () => {
  it('refuse a connection beyond those of the key, and beyond those of all, until one has closed', async () => {
    const { shares, reached } = setUp()
    const first = opened(shares, 'one')
    opened(shares, 'one')
    expect(shares.open('one', unread())).toBeUndefined()
    opened(shares, 'two')
    expect(shares.open('two', unread())).toBeUndefined()
    expect(reached).toEqual(['one connections', 'two connections'])
    await closed(first.stream)
    opened(shares, 'two')
  })

  it('refuse a question beyond those of the key over all its connections, and beyond those of all', () => {
    const { shares, reached } = setUp()
    const [first, second, other] = [opened(shares, 'one'), opened(shares, 'one'), opened(shares, 'two')]
    expect([first.take(), second.take(), first.take(), second.take()]).toEqual([true, true, false, false])
    expect([other.take(), other.take()]).toEqual([true, false])
    expect(reached).toEqual(['one questions', 'one questions', 'two questions'])
    second.answered()
    expect(other.take()).toBe(true)
  })

  it('count a question until it is answered, also where its connection is gone', async () => {
    const { shares } = setUp()
    const gone = opened(shares, 'one')
    gone.take()
    gone.take()
    await closed(gone.stream)
    const again = opened(shares, 'one')
    expect(again.take()).toBe(false)
    gone.answered()
    expect(again.take()).toBe(true)
  })

  it('close the connection of a key with the most unread answers, and none of another key', () => {
    const { shares, reached } = setUp()
    const [small, large, other] = [opened(shares, 'one'), opened(shares, 'one'), opened(shares, 'two')]
    const write = ({ stream, wrote }: typeof small, bytes: number): void => {
      stream.write('.'.repeat(bytes))
      wrote()
    }
    write(other, 400)
    write(large, 700)
    write(small, 200)
    expect(reached).toEqual([])
    write(small, 200)
    expect([small, large, other].map(({ stream }) => stream.destroyed)).toEqual([false, true, false])
    expect(reached).toEqual(['one unread'])
  })

  it('close the one with the most unread answers of all where they are too many together', () => {
    const { shares, reached } = setUp()
    const [one, two] = [opened(shares, 'one'), opened(shares, 'two')]
    one.stream.write('.'.repeat(900))
    one.wrote()
    two.stream.write('.'.repeat(700))
    two.wrote()
    expect([one.stream.destroyed, two.stream.destroyed]).toEqual([true, false])
    expect(reached).toEqual(['one unread'])
  })
})

describe('ten bulk connections of one key that ask and do not read', () => {
  it('hold no more than one key may, are closed beyond it, and another key is answered', async () => {
    const { server, connectAs, reached } = setUpServer()
    const silent = Array.from({ length: 10 }, () => connectAs('one', unread()))
    const lines: string[] = []
    const reading = connectAs('two', reader(lines))
    for (const stream of silent) stream.push(questions(500))
    reading.push(questions(1))
    // What a connection asked before it was closed is not read any more.
    await expect.poll(() => reached.length, { timeout: 600_000 }).toBeGreaterThan(0)
    await expect.poll(() => server.answered, { timeout: 600_000 }).toBeGreaterThan(1_024)
    await expect.poll(() => lines.some((line) => line.includes('"finding"')), { timeout: 600_000 }).toBe(true)
    const held = silent.reduce((sum, stream) => sum + (stream.destroyed ? 0 : stream.writableLength), 0)
    expect(held).toBeLessThanOrEqual(1_048_576)
    expect(held).toBeGreaterThan(0)
    expect(new Set(reached)).toEqual(new Set(['one unread']))
    expect(reading.destroyed).toBe(false)
  })

  it('have questions beyond those of the key answered with queue_full', async () => {
    const { connectAs, reached } = setUpServer({ questions: { ofKey: 10, inAll: 1_000 } })
    const lines: string[] = []
    const stream = connectAs('one', reader(lines))
    stream.push(questions(30))
    const answers = (): string[] => lines.filter((line) => line.includes('"finding"'))
    await expect.poll(() => answers().length, { timeout: 600_000 }).toBe(30)
    expect(answers().filter((line) => line.includes('queue_full'))).toHaveLength(20)
    expect(reached).toHaveLength(20)
  })

  it('are refused with 429 beyond those of the key', async () => {
    const { connectAs, reached } = setUpServer({ connections: { ofKey: 1, inAll: 10 } })
    connectAs('one', unread())
    const lines: string[] = []
    connectAs('one', reader(lines))
    await expect.poll(() => lines[0], { timeout: 600_000 }).toBe('HTTP/1.1 429 Too Many Requests\r')
    expect(reached).toEqual(['one connections'])
  })
})

/** Answers every question with about a kilobyte. */
const setUpServer = (over: Partial<BulkBounds> = {}) => {
  const bounds: BulkBounds = {
    connections: { ofKey: 100, inAll: 200 },
    questions: { ofKey: 100_000, inAll: 200_000 },
    unreadBytes: { ofKey: 1_048_576, inAll: 2_097_152 },
    ...over,
  }
  const reached: string[] = []
  const server = Object.assign(createServer(), { answered: 0 })
  const types = Array.from({ length: 16 }, (_, nth) => ({ type: `category ${nth} `.padEnd(48, '.') }))
  const close = acceptBulk(server, {
    holderOf: (name) => (name === undefined ? undefined : { name, priorityOf: (asked) => asked }),
    shares: createBulkShares((event) => note(event, reached), bounds),
    sourceOf: bulkSourceOf({
      reader: ownReader,
      now: Date.now,
      answer: (_, { ip }) => {
        server.answered++
        const body = { status: 200, ip: String(ip), is_malicious: true, ip_category: { count: 16, data: types } }
        return Promise.resolve({ ok: true, isKnown: true, body })
      },
    }),
    now: Date.now,
  })
  onTestFinished(close)
  const connectAs = (key: string, stream: Duplex): Duplex => {
    const headers = { 'x-api-key': key, 'x-threatweave-bulk': oneCallEachHeader }
    server.emit('connect', { url: 'bulk:1', headers } as unknown as IncomingMessage, stream, Buffer.alloc(0))
    return stream
  }
  return { server, connectAs, reached }
}

const reader = (lines: string[]): Duplex =>
  new Duplex({
    read: () => undefined,
    write: (text: Buffer, _, done) => {
      lines.push(...String(text).split('\n'))
      done()
    },
  })

const questions = (count: number): string =>
  Array.from(
    { length: count },
    (_, id) =>
      `${JSON.stringify({ id, type: 'ip', value: `192.0.2.${id % 250}`, role: 'destination', action: 'allowed' })}\n`,
  ).join('')
