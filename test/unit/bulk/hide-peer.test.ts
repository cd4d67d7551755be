// A worker tells the gateway which questions are of one peer, and not which peer that is.
import { Duplex } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/base/clock.js'
import { createBulkLookup } from '../../../src/bulk/bulk-lookup.js'
import { createHidePeer } from '../../../src/bulk/hide-peer.js'
import { readQuestion } from '../../../src/bulk/protocol.js'
import type { Ask } from '../../../src/domain/lookup.js'
import { ignoreTelemetry } from '../../../src/telemetry/event.js'

const open = async () => {
  const lines: string[] = []
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _, done) => {
      lines.push(
        ...String(chunk)
          .split('\n')
          .filter((line) => line !== ''),
      )
      done()
    },
  })
  const bulk = createBulkLookup({
    isOffered: () => true,
    connect: () => Promise.resolve(stream),
    takes: () => true,
    maxOpen: 100,
    hidePeer: createHidePeer('the-key-of-the-workers'),
    giveUpMs: 1_000,
    clock: systemClock,
    emit: ignoreTelemetry,
  })
  onTestFinished(bulk.close)
  await bulk.open()
  return { bulk, lines }
}
const by = (peer: string, network?: string): Ask => ({
  role: 'query',
  action: 'allowed',
  evidence: 'field',
  peer,
  ...(network !== undefined && { network }),
})

it('the lines of one peer have the same name, which says nothing of its address', async () => {
  const { bulk, lines } = await open()
  void bulk.ask({ type: 'domain', value: 'one.example.net' }, by('10.1.2.3'))
  void bulk.ask({ type: 'domain', value: 'two.example.net' }, by('10.1.2.3'))
  void bulk.ask({ type: 'domain', value: 'three.example.net' }, by('198.51.100.7', '198.51.100.0/24'))
  bulk.askedAgain('domain:one.example.net', by('10.9.9.9'))
  await expect.poll(() => lines.length).toBe(4)
  const [one, two, three, again] = lines.map((line) => readQuestion(line)?.priority)
  expect(one?.peer).toMatch(/^[\w-]{16}$/)
  expect(two).toEqual(one)
  expect(three?.network).toMatch(/^[\w-]{16}$/)
  expect(again?.peer).not.toBe(one?.peer)
  expect(lines.join()).not.toMatch(/10\.|198\.51/)
  expect(createHidePeer('another-key')('10.1.2.3')).not.toBe(one?.peer)
})
