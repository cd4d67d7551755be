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

describe('the queue of several askers', () => {
  const by = (asker: string, priority: Priority = outbound): Priority => ({ ...priority, asker })
  const blocked: Priority = { role: 'source', action: 'blocked' }
  const fill = (
    queue: ReturnType<typeof createQueue<null>>,
    asker: string,
    count: number,
    priority = outbound,
  ): void => {
    for (let nth = 0; nth < count; nth++) queue.add(`${asker}${nth}`, by(asker, priority), null)
  }
  const taken = (queue: ReturnType<typeof createQueue<null>>, count: number): readonly (string | undefined)[] =>
    Array.from({ length: count }, () => queue.next()?.key)

  it('serves them in turns, whatever class each of them claims', () => {
    const queue = createQueue<null>(10_000)
    fill(queue, 'b', 3_000)
    fill(queue, 'c', 3, blocked)
    fill(queue, 'd', 2, inbound)
    expect(taken(queue, 8)).toEqual(['b0', 'c0', 'd0', 'b1', 'c1', 'd1', 'b2', 'c2'])
    expect(taken(queue, 2)).toEqual(['b3', 'b4'])
  })

  it('serves live traffic of any of them before replayed history', () => {
    const queue = createQueue<null>(100)
    fill(queue, 'b', 2, { ...outbound, urgency: 'replay' })
    fill(queue, 'c', 2, blocked)
    expect(taken(queue, 4)).toEqual(['c0', 'c1', 'b0', 'b1'])
  })

  it('drops a lookup of who has most waiting when it is full, whatever class that claims', () => {
    const queue = createQueue<null>(100)
    fill(queue, 'b', 100)
    expect(queue.hasPlaceFor(by('b'))).toBe(false)
    expect(queue.hasPlaceFor(by('c', blocked))).toBe(true)
    expect(queue.add('c0', by('c', blocked), null)?.key).toBe('b0')
    for (let nth = 1; nth < 200; nth++)
      if (queue.hasPlaceFor(by('c', blocked))) queue.add(`c${nth}`, by('c', blocked), null)
    // Half of the places each.
    expect(queue.hasPlaceFor(by('c', blocked))).toBe(false)
    expect(queue.size()).toBe(100)
    const keys = taken(queue, 100)
    expect(Math.abs(keys.filter((key) => key?.startsWith('b')).length - 50)).toBeLessThanOrEqual(1)
  })

  it('serves what two ask for when it is the turn of either', () => {
    const queue = createQueue<null>(1_000)
    fill(queue, 'b', 500)
    queue.askedAgain('b499', by('c', blocked))
    expect(queue.ahead('b499')).toBe(1)
    expect(taken(queue, 3)).toEqual(['b0', 'b499', 'b1'])
    expect(queue.size()).toBe(497)
  })

  it('keeps what another asks for too when who has most waiting gives way', () => {
    const queue = createQueue<null>(10)
    fill(queue, 'b', 10, blocked)
    queue.askedAgain('b0', by('c'))
    expect(queue.add('d0', by('d'), null)?.key).toBe('b1')
    expect(taken(queue, 3)).toEqual(['b2', 'b0', 'd0'])
  })

  it('does not let an asker move up what another asks for', () => {
    const queue = createQueue<null>(100)
    fill(queue, 'c', 3)
    fill(queue, 'b', 3, blocked)
    queue.askedAgain('c2', by('b', blocked), 1_000)
    expect(taken(queue, 5)).toEqual(['c0', 'c2', 'c1', 'b0', 'b1'])
  })

  it('knows how many go before a new lookup of each asker', () => {
    const queue = createQueue<null>(10_000)
    fill(queue, 'b', 3_000)
    fill(queue, 'c', 2)
    expect(queue.aheadOfNew('b').at(-1)).toBe(3_000 + 2)
    expect(queue.aheadOfNew('c').at(-1)).toBe(2 + 3)
    expect(queue.aheadOfNew('new').at(-1)).toBe(1 + 1)
    // Replayed history waits for all of it.
    expect(queue.aheadOfNew('new').at(0)).toBe(3_002)
  })
})
