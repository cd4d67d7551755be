// How much is sent together.
import { expect, it } from 'vitest'
import { deliverTo, type OutputContext } from '../../../src/delivery/deliver-to.js'

const context = {
  settings: {
    output: { topic: 'out', partitionBy: 'input' },
    deadLetterTopic: 'dead',
    alertsTopic: 'alerts',
    correctionsTopic: 'corrections',
    sightingsTopic: 'sightings',
    limits: { sendBytes: 900_000 },
  },
  placement: 'json',
  key: 'threatweave',
  emit: () => undefined,
  now: () => 0,
} as unknown as OutputContext

const fact = (
  maxBytes: number,
): { partitions: number; maxBytes: number; retentionMs: number; cleanup: string; times: string } => ({
  partitions: 1,
  maxBytes,
  retentionMs: -1,
  cleanup: 'delete',
  times: 'CreateTime',
})

it.each(['out', 'dead', 'alerts', 'corrections', 'sightings'])(
  'a batch fits every topic that is written: %s takes the least',
  (smallest) => {
    const facts = new Map(
      ['out', 'dead', 'alerts', 'corrections', 'sightings'].map((topic) => [
        topic,
        fact(topic === smallest ? 20_000 : 2_000_000),
      ]),
    )
    expect(deliverTo(context, { facts }).max.bytes).toBe(20_000 - 128)
  },
)

it('a batch is as large as the settings allow where every topic takes more', () => {
  expect(
    deliverTo(context, {
      facts: new Map([
        ['out', fact(2_000_000)],
        ['dead', fact(2_000_000)],
      ]),
    }).max.bytes,
  ).toBe(900_000)
})
