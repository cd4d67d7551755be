// One key may send any lines over its connections: how much work each is, and whom it delays.
import { connect, type Socket } from 'node:net'
import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { acceptBulk } from '../../../src/bulk/accept-bulk.js'
import { bulkSourceOf } from '../../../src/server/bulk-source.js'
import { createBulkShares } from '../../../src/bulk/bulk-shares.js'
import { ignoreTelemetry } from '../../../src/telemetry/event.js'
import { ownReader } from '../../support/own-reader.js'
import { listen } from '../../support/test-site.js'
import { oneCallEachHeader } from '../../support/operation-choices.js'

const calm = {
  waiting: 0,
  inFlight: 0,
  allowed: 1,
  state: 'open',
  spent: { hour: 0, day: 0, run: 0 },
  latencyMs: 1,
} as const
const passed = { role: 'destination', action: 'allowed', urgency: 'live' }
const question = (id: number): object => ({ id, type: 'ip', value: '192.0.2.1', ...passed })
const again = (id: number, times: number): object => ({ id, again: times, ...passed })
const text = (lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** A gateway whose questions stay open, and what it did for the lines that it was sent. */
const start = async () => {
  const done = { askedAgain: [] as number[], askedSource: 0, asked: [] as string[], estimated: [] as unknown[] }
  const askedAgain = (times: number | undefined): void => void done.askedAgain.push(times ?? 1)
  const server = createServer()
  const close = acceptBulk(server, {
    holderOf: (name) => (name === undefined ? undefined : { name, priorityOf: (asked) => asked }),
    shares: createBulkShares(ignoreTelemetry),
    sourceOf: bulkSourceOf({
      reader: ownReader,
      now: () => 0,
      answer: (_, __, key = '') => {
        done.asked.push(key)
        return new Promise(() => undefined)
      },
    }),
    gateway: {
      askedAgain: (_, __, ___, times) => askedAgain(times),
      estimatesMs: (asker) => {
        done.estimated.push(asker)
        return [0]
      },
      allowed: () => 1,
      admission: () => calm,
    },
    sources: [
      {
        id: 'acme',
        takes: () => true,
        lookup: () => {
          done.askedSource++
          return new Promise(() => undefined)
        },
        admission: { estimatesMs: () => [0], state: () => calm, askedAgain: (_, __, times) => askedAgain(times) },
        inFlight: 1,
      },
    ],
    now: () => 0,
  })
  const port = await listen(server)
  onTestFinished(() => {
    close()
    server.close()
  })
  const open = async (key: string, source = ''): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const settings = `${oneCallEachHeader}${source}`
    socket.write(`CONNECT bulk:1 HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\nx-threatweave-bulk: ${settings}\r\n\r\n`)
    await new Promise((resolve) => socket.once('data', resolve))
    return socket
  }
  return { open, done }
}

describe('a line that says how often more a question is asked', () => {
  it.each([
    ['the provider', ''],
    ['a source', '&source=acme'],
  ])('is one operation whatever number is in it, where it goes to %s', async (_, source) => {
    const { open, done } = await start()
    const socket = await open('b', source)
    socket.write(text([question(1), ...Array.from({ length: 100 }, () => again(1, 1e300))]))
    await expect.poll(() => done.askedAgain.length).toBe(100)
    // The rank ends at 2^15 asks.
    expect(new Set(done.askedAgain)).toEqual(new Set([32_768]))
    expect(done.askedSource + done.asked.length).toBe(1)
  })
})

describe('a key with many connections', () => {
  it('has its estimates worked out once for all of them', async () => {
    const { open, done } = await start()
    for (let nth = 0; nth < 20; nth++) await open('b')
    await open('c')
    expect(done.estimated).toEqual(['b', 'c'])
  })
})

describe('a key with very many lines', () => {
  it('gets so many of them read in one turn of the event loop, over all of its connections', async () => {
    const { open, done } = await start()
    const flooding = await Promise.all(Array.from({ length: 20 }, () => open('b')))
    const other = await open('c')
    const flood = text(Array.from({ length: 500 }, (_, nth) => question(nth)))
    for (const socket of flooding) socket.write(flood)
    let mostInTurn = 0
    let before = 0
    const watch = (): void => {
      mostInTurn = Math.max(mostInTurn, done.asked.length - before)
      before = done.asked.length
      if (done.asked.length < 10_001) setImmediate(watch)
    }
    setImmediate(watch)
    await expect.poll(() => done.asked.length, { interval: 1 }).toBeGreaterThan(1_000)
    other.write(text([question(1)]))
    await expect.poll(() => done.asked.length, { timeout: 60_000 }).toBe(10_001)
    // What is left of a turn, and the next one.
    expect(mostInTurn).toBeLessThanOrEqual(2 * 32 + 1)
    expect(done.asked.indexOf('c')).toBeLessThan(9_000)
  })
})
