import { describe, expect, it } from 'vitest'
import { createWaitingRoom, type Priority } from '../../../../src/lookup/admission/queue.js'

const inbound: Priority = { role: 'source', action: 'allowed' }
const outbound: Priority = { role: 'destination', action: 'allowed' }

const order = (entries: readonly (readonly [string, Priority])[]): string[] => {
  const room = createWaitingRoom<null>(100)
  for (const [key, priority] of entries) room.enter(key, priority, null)
  return Array.from({ length: entries.length }, () => room.next()?.key ?? 'nobody')
}

describe('the waiting room', () => {
  it.each<[string, Priority, Priority]>([
    ['destinations before sources', outbound, inbound],
    ['queries before sources', { role: 'query', action: 'allowed' }, inbound],
    ['allowed before blocked', inbound, { role: 'source', action: 'blocked' }],
    ['allowed before unknown', inbound, { role: 'source', action: 'unknown' }],
    ['unknown before blocked', { role: 'source', action: 'unknown' }, { role: 'source', action: 'blocked' }],
    ['a blocked destination before an allowed source', { role: 'destination', action: 'blocked' }, inbound],
    ['live before replay', { ...inbound, action: 'blocked' }, { ...outbound, urgency: 'replay' }],
  ])('serves %s', (_title, first, second) => {
    expect(order([['b', second], ['a', first]])).toEqual(['a', 'b']) // prettier-ignore
  })

  it('serves first what came first among equals', () => {
    expect(order([['a', inbound], ['b', inbound], ['c', inbound]])).toEqual(['a', 'b', 'c']) // prettier-ignore
  })

  it('serves what is asked for most among equals, and never before a better class', () => {
    const room = createWaitingRoom<null>(100)
    for (const key of ['once', 'twice', 'often']) room.enter(key, inbound, null)
    room.enter('outbound', outbound, null)
    room.askedAgain('twice', inbound)
    for (let times = 0; times < 1000; times++) room.askedAgain('often', inbound)
    expect([room.next()?.key, room.next()?.key, room.next()?.key, room.next()?.key]).toEqual([
      'outbound',
      'often',
      'twice',
      'once',
    ])
  })

  it('moves up what is asked for again by somebody more important, and never down', () => {
    const room = createWaitingRoom<null>(100)
    room.enter('a', inbound, null)
    room.enter('b', inbound, null)
    room.askedAgain('b', outbound)
    room.askedAgain('b', { role: 'source', action: 'blocked', urgency: 'replay' })
    expect(room.next()?.key).toBe('b')
  })

  it('gives up the least important for a more important newcomer when it is full', () => {
    const room = createWaitingRoom<null>(2)
    room.enter('blocked', { role: 'source', action: 'blocked' }, null)
    room.enter('allowed', inbound, null)
    expect(room.hasPlaceFor(outbound)).toBe(true)
    expect(room.enter('outbound', outbound, null)?.key).toBe('blocked')
    expect(room.size()).toBe(2)
  })

  it('has no place for a newcomer who is not more important when it is full', () => {
    const room = createWaitingRoom<null>(1)
    room.enter('a', inbound, null)
    expect(room.hasPlaceFor(inbound)).toBe(false)
    expect(room.hasPlaceFor({ role: 'source', action: 'blocked' })).toBe(false)
  })

  it('knows how many are served before a guest at the latest', () => {
    const room = createWaitingRoom<null>(100)
    room.enter('a', inbound, null)
    room.enter('b', outbound, null)
    room.enter('c', inbound, null)
    expect(['a', 'b', 'c', 'd'].map(room.ahead)).toEqual([1, 0, 2, undefined])
    room.next()
    room.next()
    expect(room.ahead('c')).toBe(0)
  })
})
