// What the event of a join tells besides.
import { createRequire } from 'node:module'
import { expect, it, vi } from 'vitest'
import { tellHeartbeat, toldOf } from '../../../../src/kafka/patched-kafkajs/tell-heartbeat.js'

const load = createRequire(import.meta.url)

type Emitter = { readonly emit: (event: string, payload?: object) => void }
type Group = {
  memberId: string
  coordinator: object
  readonly instrumentationEmitter: Emitter
  readonly heartbeat: (options: { readonly interval: number }) => Promise<void>
}

const { events } = load('kafkajs/src/consumer/instrumentationEvents.js') as { events: Record<string, string> }
const open = () => {
  const GroupClass = tellHeartbeat(load('kafkajs/src/consumer/consumerGroup.js')) as new (options: object) => Group
  const emitted: (readonly [string, object | undefined])[] = []
  const instrumentationEmitter: Emitter = { emit: (event, payload) => emitted.push([event, payload]) }
  const logger = { namespace: () => ({ error: () => undefined }) }
  const group = new GroupClass({ instrumentationEmitter, logger, retry: {} })
  group.memberId = 'a'
  group.instrumentationEmitter.emit(events.GROUP_JOIN ?? '', { memberId: 'a' })
  return { group, emitted, told: toldOf(emitted[0]?.[1] ?? {}) }
}

it('is told with the event of a join alone', () => {
  const { group, emitted, told } = open()
  group.instrumentationEmitter.emit(events.HEARTBEAT ?? '', { memberId: 'a' })
  expect(emitted[1]?.[1]).toEqual({ memberId: 'a' })
  expect(told).toMatchObject({ memberId: 'a' })
})

it('is a heartbeat that does not wait until one is due', async () => {
  const { group, emitted, told } = open()
  const heartbeat = vi.fn(() => Promise.resolve())
  group.coordinator = { heartbeat }
  await group.heartbeat({ interval: 60_000 })
  expect(heartbeat).not.toHaveBeenCalled()
  await told.heartbeat()
  expect(heartbeat).toHaveBeenCalledOnce()
  expect(emitted.at(-1)?.[0]).toBe(events.HEARTBEAT)
})
