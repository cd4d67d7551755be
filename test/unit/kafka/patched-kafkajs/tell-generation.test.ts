// The generation that the event of a join names.
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { generationOf, tellGeneration } from '../../../../src/kafka/patched-kafkajs/tell-generation.js'

const load = createRequire(import.meta.url)

type Emitter = { readonly emit: (event: string, payload?: object) => void }
type Group = { generationId: number; readonly instrumentationEmitter: Emitter }

it('is the one in which the group is then, and no other event has it', () => {
  const { events } = load('kafkajs/src/consumer/instrumentationEvents.js') as { events: Record<string, string> }
  const GroupClass = tellGeneration(load('kafkajs/src/consumer/consumerGroup.js')) as new (options: object) => Group
  const emitted: (readonly [string, object | undefined])[] = []
  const instrumentationEmitter: Emitter = { emit: (event, payload) => emitted.push([event, payload]) }
  const logger = { namespace: () => ({ error: () => undefined }) }
  const group = new GroupClass({ instrumentationEmitter, logger, retry: {} })
  group.generationId = 7
  group.instrumentationEmitter.emit(events.GROUP_JOIN ?? '', { memberId: 'a' })
  group.instrumentationEmitter.emit(events.HEARTBEAT ?? '', { memberId: 'a' })
  expect(emitted.map(([, payload]) => payload)).toEqual([{ memberId: 'a', generationId: 7 }, { memberId: 'a' }])
  expect(generationOf(emitted[0]?.[1] ?? {})).toBe(7)
})
