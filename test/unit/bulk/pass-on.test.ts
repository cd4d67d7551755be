// Questions at a gateway that does not call: answered by the one that does, and by the next one where that changes.
import { ownReader } from '../../support/own-reader.js'
import { bundledProfile } from '../../../src/app/open-profile.js'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/base/clock.js'
import { acceptBulk } from '../../../src/bulk/accept-bulk.js'
import { bulkSourceOf } from '../../../src/server/bulk-source.js'
import { createBulkLookup } from '../../../src/bulk/bulk-lookup.js'
import { createBulkShares } from '../../../src/bulk/bulk-shares.js'
import type { Finding } from '../../../src/domain/finding.js'
import type { Election, Role } from '../../../src/election/election.js'
import { createClient } from '../../../src/provider/client.js'
import { ignoreTelemetry } from '../../../src/telemetry/event.js'
import { outbound } from '../../support/lookup.js'
import { oneCallEach } from '../../support/operation-choices.js'

const settings = oneCallEach

const calm = {
  waiting: 0,
  inFlight: 0,
  allowed: 1,
  state: 'open',
  spent: { hour: 0, day: 0, run: 0 },
  latencyMs: 1,
} as const

const fakeElection = (first: Role): Pick<Election, 'role' | 'changed'> & { readonly become: (next: Role) => void } => {
  const listeners = new Set<() => void>()
  let role = first
  return {
    role: () => role,
    changed: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    become: (next) => {
      role = next
      for (const listener of [...listeners]) listener()
    },
  }
}

const clientOf = (baseUrl: string, isPassedOn: boolean) => {
  const client = createClient(
    {
      baseUrl,
      apiKey: 'sample-key',
      profile: bundledProfile(),
      concurrency: 4,
      allowHttp: false,
      connectTimeoutMs: 300_000,
      headersTimeoutMs: 300_000,
      bodyTimeoutMs: 300_000,
      maxAnswerBytes: 65_536,
      maxAnswerDepth: 32,
    },
    { env: {}, now: Date.now, isPassedOn },
  )
  onTestFinished(client.close)
  return client
}

/** A gateway whose own source never answers while it `hangs`. */
const start = async (first: Role, { hangs = false } = {}) => {
  const election = fakeElection(first)
  const state = { asked: 0, passed: 0, paid: [] as string[], askedSource: 0 }
  const server = createServer()
  const close = acceptBulk(server, {
    holderOf: (name) => (name === undefined ? undefined : { name, priorityOf: (asked) => asked }),
    shares: createBulkShares(ignoreTelemetry),
    sourceOf: bulkSourceOf({
      reader: ownReader,
      now: Date.now,
      answer: (_, { ip }) => {
        state.asked++
        if (hangs) return new Promise(() => undefined)
        return Promise.resolve({ ok: true, isKnown: true, body: { status: 200, ip: String(ip), is_malicious: true } })
      },
    }),
    shared: { find: () => undefined, paid: ({ value }) => void state.paid.push(value) },
    sources: [
      {
        id: 'acme',
        takes: () => true,
        lookup: () => {
          state.askedSource++
          return { status: 'unknown', reason: 'not_found' }
        },
        admission: { estimatesMs: () => [0], state: () => calm, askedAgain: () => undefined },
        inFlight: 1,
      },
    ],
    others: {
      election,
      connect: (address, _key, asked) => clientOf(address, true).bulk.connect(asked),
      passed: () => void (state.passed += 1),
      giveUpMs: 300_000,
      maxOpen: 100,
      clock: systemClock,
    },
    now: Date.now,
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const end = (): void => {
    close()
    server.close()
  }
  onTestFinished(end)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, election, state, end }
}

const askerOf = async (url: string, source?: string) => {
  const client = clientOf(url, false)
  const bulk = createBulkLookup({
    isOffered: () => true,
    connect: () => client.bulk.connect({ ...settings, ...(source !== undefined && { source }) }),
    takes: () => true,
    hidePeer: (name) => name,
    maxOpen: 100,
    giveUpMs: 300_000,
    clock: systemClock,
    emit: ignoreTelemetry,
  })
  onTestFinished(bulk.close)
  await bulk.open()
  return (value: string): Promise<Finding> => Promise.resolve(bulk.ask({ type: 'ip', value }, outbound) as Finding)
}

const malicious = { status: 'known', facts: { flags: { is_malicious: true } } }

describe('a question at a gateway that does not call', () => {
  it('is answered by the one that calls, which alone shares what it has paid for', async () => {
    const calling = await start({ kind: 'calls' })
    const other = await start({ kind: 'passes_on', address: calling.url })
    const ask = await askerOf(other.url)
    expect(await ask('192.0.2.1')).toMatchObject(malicious)
    expect(calling.state).toMatchObject({ asked: 1, passed: 0, paid: ['192.0.2.1'] })
    expect(other.state).toMatchObject({ asked: 0, passed: 1, paid: [] })
  })

  it('is asked of a source by the one that calls, too', async () => {
    const calling = await start({ kind: 'calls' })
    const other = await start({ kind: 'passes_on', address: calling.url })
    const ask = await askerOf(other.url, 'acme')
    expect(await ask('192.0.2.9')).toMatchObject({ status: 'unknown', reason: 'not_found' })
    expect([calling.state.askedSource, other.state.askedSource]).toEqual([1, 0])
    const waiting = await start({ kind: 'waits' })
    const asking = (await askerOf(waiting.url, 'acme'))('192.0.2.9')
    waiting.election.become({ kind: 'calls' })
    expect(await asking).toMatchObject({ reason: 'not_found' })
    expect([waiting.state.askedSource, waiting.state.asked]).toEqual([1, 0])
  })

  it('is asked here where this one takes over before it is answered', async () => {
    const dying = await start({ kind: 'calls' }, { hangs: true })
    const other = await start({ kind: 'passes_on', address: dying.url })
    const asking = (await askerOf(other.url))('192.0.2.2')
    await expect.poll(() => dying.state.asked).toBe(1)
    dying.end()
    other.election.become({ kind: 'takes_over' })
    expect(other.state.asked).toBe(0)
    other.election.become({ kind: 'calls' })
    expect(await asking).toMatchObject(malicious)
    expect(other.state).toMatchObject({ asked: 1, paid: ['192.0.2.2'] })
  })

  it('waits while it is not known who calls', async () => {
    const calling = await start({ kind: 'calls' })
    const other = await start({ kind: 'waits' })
    const asking = (await askerOf(other.url))('192.0.2.3')
    other.election.become({ kind: 'passes_on', address: calling.url })
    expect(await asking).toMatchObject(malicious)
  })

  it('is never passed on twice: a gateway that does not lead refuses it', async () => {
    const third = await start({ kind: 'passes_on', address: 'http://127.0.0.1:9' })
    await expect(clientOf(third.url, true).bulk.connect(settings)).rejects.toThrow('503')
    const leading = await start({ kind: 'takes_over' })
    const stream = await clientOf(leading.url, true).bulk.connect(settings)
    const closed = new Promise<void>((done) => stream.once('close', () => done()))
    stream.on('error', () => undefined).resume()
    leading.election.become({ kind: 'passes_on', address: third.url })
    await closed
  })
})
