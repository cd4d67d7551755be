import { describe, expect, it } from 'vitest'
import { createQueue, type Priority } from '../../../../src/lookup/admission/queue.js'

const inbound: Priority = { role: 'source', action: 'allowed' }
const outbound: Priority = { role: 'destination', action: 'allowed' }

const order = (entries: readonly (readonly [string, Priority])[]): string[] => {
  const queue = createQueue<null>(100)
  for (const [key, priority] of entries) queue.add(key, priority, null)
  return Array.from({ length: entries.length }, () => queue.next()?.key ?? 'nobody')
}

describe('the queue', () => {
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
    const queue = createQueue<null>(100)
    for (const key of ['once', 'twice', 'often']) queue.add(key, inbound, null)
    queue.add('outbound', outbound, null)
    queue.askedAgain('twice', inbound)
    for (let times = 0; times < 1000; times++) queue.askedAgain('often', inbound)
    expect([queue.next()?.key, queue.next()?.key, queue.next()?.key, queue.next()?.key]).toEqual([
      'outbound',
      'often',
      'twice',
      'once',
    ])
  })

  it('moves up what is asked for again by somebody more important, and never down', () => {
    const queue = createQueue<null>(100)
    queue.add('a', inbound, null)
    queue.add('b', inbound, null)
    queue.askedAgain('b', outbound)
    queue.askedAgain('b', { role: 'source', action: 'blocked', urgency: 'replay' })
    expect(queue.next()?.key).toBe('b')
  })

  it('gives up the least important for a more important newcomer when it is full', () => {
    const queue = createQueue<null>(2)
    queue.add('blocked', { role: 'source', action: 'blocked' }, null)
    queue.add('allowed', inbound, null)
    expect(queue.hasPlaceFor(outbound)).toBe(true)
    expect(queue.add('outbound', outbound, null)?.key).toBe('blocked')
    expect(queue.size()).toBe(2)
  })

  it('has no place for a newcomer who is not more important when it is full', () => {
    const queue = createQueue<null>(1)
    queue.add('a', inbound, null)
    expect(queue.hasPlaceFor(inbound)).toBe(false)
    expect(queue.hasPlaceFor({ role: 'source', action: 'blocked' })).toBe(false)
  })

  it('knows how many go before a lookup at the latest', () => {
    const queue = createQueue<null>(100)
    queue.add('a', inbound, null)
    queue.add('b', outbound, null)
    queue.add('c', inbound, null)
    expect(['a', 'b', 'c', 'd'].map(queue.ahead)).toEqual([1, 0, 2, undefined])
    queue.next()
    queue.next()
    expect(queue.ahead('c')).toBe(0)
  })
})
