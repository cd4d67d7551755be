// The queue of requests of one connection: when it sets a timer, and that it still sends what waited.
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { quietQueue } from '../../../../src/kafka/patched-kafkajs/quiet-queue.js'

type Queue = {
  readonly inflight: ReadonlyMap<number, unknown>
  readonly throttleCheckTimeoutId: unknown
  readonly push: (request: object) => void
  readonly fulfillRequest: (response: object) => void
  readonly maybeThrottle: (ms: number) => void
  readonly destroy: () => void
}
const Original = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as unknown
const Quiet = quietQueue(Original) as new (options: object) => Queue
const silent = { debug: () => undefined, warn: () => undefined }

const open = (): { readonly queue: Queue; readonly sent: number[]; readonly ask: (id: number) => void } => {
  const sent: number[] = []
  const queue = new Quiet({
    maxInFlightRequests: 1,
    requestTimeout: 1_000,
    enforceRequestTimeout: false,
    clientId: 'test',
    broker: 'here',
    logger: silent,
    isConnected: () => true,
  })
  const ask = (correlationId: number): void =>
    queue.push({
      entry: { correlationId, resolve: () => undefined, reject: () => undefined },
      expectResponse: true,
      sendRequest: () => void sent.push(correlationId),
    })
  return { queue, sent, ask }
}
const answer = (queue: Queue, correlationId: number): void =>
  queue.fulfillRequest({ correlationId, payload: Buffer.alloc(0), size: 0 })

describe('a queue of requests', () => {
  it('sets no timer when nothing waits', () => {
    const { queue, sent, ask } = open()
    ask(1)
    answer(queue, 1)
    expect([sent, queue.throttleCheckTimeoutId]).toEqual([[1], null])
    queue.destroy()
  })

  it('sends what waited when its turn comes', () => {
    const { queue, sent, ask } = open()
    ask(1)
    ask(2)
    expect(sent).toEqual([1])
    expect(queue.throttleCheckTimeoutId).not.toBeNull()
    answer(queue, 1)
    expect(sent).toEqual([1, 2])
    queue.destroy()
  })

  it('sends what a broker asked to hold back when that is over', async () => {
    const { queue, sent, ask } = open()
    queue.maybeThrottle(30)
    ask(1)
    expect(sent).toEqual([])
    await expect.poll(() => sent).toEqual([1])
    queue.destroy()
  })
})
