// What one peer, or one network, takes of the queue and of the calls while others wait.
import { describe, expect, it } from 'vitest'
import { createAdmission, type AdmissionSettings } from '../../../../src/lookup/admission/admission.js'
import { createQueue, type Priority } from '../../../../src/lookup/admission/queue.js'
import { createFakeClock } from '../../../support/clock.js'
import { admissionSettings, known } from '../../../support/lookup.js'

const query = (peer: string, network?: string): Priority => ({
  role: 'query',
  action: 'allowed',
  peer,
  ...(network !== undefined && { network }),
})
const source = (peer: string, action: Priority['action'] = 'allowed'): Priority => ({ role: 'source', action, peer })

/** Asks everything at once, one call at a time, and counts the calls that went for each prefix of the keys. */
const callsOf = async (
  asked: readonly (readonly [key: string, priority: Priority])[],
  over: Partial<AdmissionSettings>,
) => {
  const clock = createFakeClock()
  const admission = createAdmission({ ...admissionSettings, ...over }, clock)
  const calls: string[] = []
  const found = asked.map(async ([key, priority]) =>
    admission.run(key, priority, (call) =>
      call(async () => {
        calls.push(key)
        await new Promise<void>((resolve) => clock.after(10, resolve))
        return known(0)
      }),
    ),
  )
  await clock.advance(60_000)
  await Promise.all(found)
  const count = (prefix: string): number => calls.filter((key) => key.startsWith(prefix)).length
  return { count, calls }
}
const many = (count: number, prefix: string, priority: (nth: number) => Priority) =>
  Array.from({ length: count }, (_, nth): [string, Priority] => [`${prefix}${nth}`, priority(nth)])

describe('a budget of 60 calls an hour', () => {
  const genuine = many(59, 'genuine', (nth) => source(`198.51.100.${nth}`))

  it('goes to genuine peers but for a tenth, while one peer varies 300 names', async () => {
    const varied = many(300, 'varied', () => query('192.0.2.1'))
    const { count } = await callsOf([...varied, ...genuine], { perHour: 60 })
    expect([count('genuine'), count('varied')]).toEqual([54, 6])
  })

  it('does so too while addresses of one network do, and for several gateways together', async () => {
    const varied = many(300, 'varied', (nth) => query(`203.0.113.${nth % 250}`, '203.0.113.0/24'))
    const { count } = await callsOf([...varied, ...genuine], { fleetBudget: { perHour: 60, perDay: 0 }, perRun: 60 })
    expect([count('genuine'), count('varied')]).toEqual([54, 6])
  })

  it('does so too where the calls of a day are limited, as those of a source are', async () => {
    const varied = many(300, 'varied', () => query('192.0.2.1'))
    const { count } = await callsOf([...varied, ...genuine], { limits: [{ calls: 60, per: 'day' }] })
    expect([count('genuine'), count('varied')]).toEqual([54, 6])
  })

  it('is all for one peer while nobody else waits', async () => {
    const { count } = await callsOf(
      many(300, 'alone', () => query('192.0.2.1')),
      { perHour: 60 },
    )
    expect(count('alone')).toBe(60)
  })

  it('is not for blocked sources, of which anybody can cause many, before what one peer has left over', async () => {
    const flood = many(300, 'flood', (nth) => source(`2001:db8:${nth}::1`, 'blocked'))
    const { count } = await callsOf([...flood, ...many(100, 'inside', () => query('192.0.2.1'))], { perHour: 60 })
    // The first one went before anything else was asked.
    expect([count('inside'), count('flood')]).toEqual([59, 1])
  })
})

describe('a queue of 100 places', () => {
  it('gives one peer a tenth of them while others wait, whatever class it claims', () => {
    const queue = createQueue<null>(100)
    for (let nth = 0; nth < 100; nth++) queue.add(`one${nth}`, query('192.0.2.1'), null)
    let dropped = 0
    for (let nth = 0; nth < 200; nth++) {
      const other = source(`198.51.100.${nth}`, 'unknown')
      if (queue.hasPlaceFor(other) && queue.add(`other${nth}`, other, null)?.key.startsWith('one') === true) dropped++
    }
    expect(dropped).toBe(90)
    expect(queue.size()).toBe(100)
    expect(queue.hasPlaceFor(query('192.0.2.1'))).toBe(false)
    expect(queue.hasPlaceFor(query('192.0.2.2'))).toBe(true)
  })

  it('takes what another peer asks for too from the share of that one', () => {
    const queue = createQueue<null>(100)
    for (let nth = 0; nth < 50; nth++) queue.add(`one${nth}`, query('192.0.2.1'), null)
    queue.add('other', source('198.51.100.1'), null)
    queue.askedAgain('one49', query('192.0.2.1'))
    queue.askedAgain('one48', query('198.51.100.2'))
    const order = Array.from({ length: 51 }, () => queue.next()?.key)
    expect(order.indexOf('one48')).toBeLessThan(order.indexOf('other'))
    expect(order.indexOf('one49')).toBeGreaterThan(order.indexOf('other'))
    expect(order.indexOf('other')).toBe(11)
  })

  it('keeps the peers of two keys apart, for a key can name any peer', () => {
    const queue = createQueue<null>(100)
    for (let nth = 0; nth < 20; nth++) queue.add(`b${nth}`, { ...query('192.0.2.1'), asker: 'b' }, null)
    queue.add('c-other', { ...source('198.51.100.1'), asker: 'c' }, null)
    queue.add('c', { ...query('192.0.2.1'), asker: 'c' }, null)
    expect(Array.from({ length: 4 }, () => queue.next()?.key)).toEqual(['b0', 'c', 'b1', 'c-other'])
  })
})
