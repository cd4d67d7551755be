// Windows as records of the state topic: what is written is what is read, and what nobody of ours has written is refused.
import { describe, expect, it } from 'vitest'
import type { Held, Window } from '../../../src/alerts/window.js'
import { createReadState, createWriteState, type StateTopic } from '../../../src/follow-up/state-record.js'
import {
  matchesValue,
  readMatches,
  readWindow,
  shortIdOf,
  windowId,
  windowValue,
} from '../../../src/follow-up/window-record.js'
import type { Outgoing } from '../../../src/kafka/records.js'
import type { WireRecord } from '../../../src/kafka/wire/record.js'

const held = (more: Partial<Held> = {}): Held => ({
  count: 7,
  first: { origin: 'fw/0/41', time: 36_000_100 },
  last: { origin: 'fw/0/52#3', time: 36_000_900 },
  users: new Set(['ada', 'ben']),
  sources: new Set(['10.0.0.5']),
  peers: new Set(),
  peerDueAt: Infinity,
  ...more,
})
const window: Window = {
  group: 'rule|203.0.113.7|10.0.0.5',
  windowMs: 3_600_000,
  number: 10,
  groupId: 'a'.repeat(32),
  rule: { id: 'rule', title: 'Malicious', level: 'high', tags: ['attack.t1071'], description: 'Why' },
  value: '203.0.113.7',
  peer: '10.0.0.5',
  origin: 'fw/0/40',
  shown: {
    status: 'complete',
    verdict: 'malicious',
    direction: 'outbound',
    action: 'allowed',
    summary: '203.0.113.7 is malicious',
    categories: ['c2'],
    as: { number: 64_500, name: 'EXAMPLE' },
  },
  upTo: 52,
  held: held(),
  matchedAt: 1_000,
}
const record = (value: Buffer, id = windowId(window)) => ({ kind: '', id, value, at: 5_000 })
const changed = (value: Buffer, by: object): Buffer =>
  Buffer.from(JSON.stringify({ ...(JSON.parse(String(value)) as object), ...by }))

describe('a whole window', () => {
  it('is read as it was written', () => {
    expect(readWindow(record(windowValue(window, 'topic-1')))).toEqual({ window, topicId: 'topic-1' })
    const { held: _, ...rest } = window
    expect(readWindow(record(windowValue(rest, undefined)))?.window.held).toBeUndefined()
  })

  it('lists fewer names where they are long, and counts all matches', () => {
    const names = (max: number): Set<string> => new Set(Array.from({ length: max }, (_, n) => `${n}`.padEnd(250, 'x')))
    const long = { ...window, held: held({ users: names(256), sources: names(256), peers: names(256) }) }
    const value = windowValue(long, undefined)
    expect(value.length).toBeLessThan(65_536)
    expect(readWindow(record(value))?.window.held).toMatchObject({ count: 7 })
  })

  it.each<[string, object]>([
    ['of another version', { schema_version: 3 }],
    ['under the key of another one', { number: 11 }],
    ['with a rule of no level', { rule: { ...window.rule, level: 'worst' } }],
    ['with a negative count', { held: { count: -1, first: ['fw/0/1', 1], last: ['fw/0/1', 1] } }],
    [
      'with more names than are counted',
      { held: { count: 1, first: ['a', 1], last: ['a', 1], users: Array(300).fill('a') } },
    ],
    ['that shows what no annotation says', { shown: { ...window.shown, summary: { $html: '' } } }],
    ['without a group', { group: undefined }],
  ])('%s is refused', (_, by) => {
    expect(readWindow(record(changed(windowValue(window, undefined), by)))).toBeUndefined()
  })
})

describe('what a chunk adds', () => {
  it('is read as it was written, with the names that the window does not know yet', () => {
    const more = held({ count: 2, users: new Set(['ada', 'cem']), peerDueAt: 9_000 })
    const read = readMatches(record(matchesValue([{ window, more }], 'topic-1')), 'fw/0')
    expect(read?.topicId).toBe('topic-1')
    expect([...(read?.windows ?? [])]).toEqual([
      [
        shortIdOf(window),
        {
          upTo: 52,
          more: { ...more, users: new Set(['cem']), sources: new Set(), peerDueAt: 5_000 + 3_600_000 },
        },
      ],
    ])
  })

  it('takes some forty bytes for a group', () => {
    const all = Array.from({ length: 500 }, (_, n) => {
      const place = { origin: `fw/0/${1_000_000 + n}`, time: 36_000_000 + n }
      const more = held({ count: 1, first: place, last: place, users: new Set(), sources: new Set() })
      return { window: { ...window, number: n }, more }
    })
    expect(matchesValue(all, 'f'.repeat(32)).length / 500).toBeLessThan(50)
  })

  it.each<[string, object]>([
    ['at no offset', { offset: -1 }],
    ['with no list', { windows: {} }],
    ['of more groups than are written together', { windows: Array(501).fill(['a', 1, [0, 0], 0]) }],
    ['that counts nothing', { windows: [['a', 0, [0, 0], 0]] }],
    ['before its first offset', { windows: [['a', 1, [-1, 0], 0]] }],
    ['with names that are none', { windows: [['a', 1, [0, 0], 0, { u: [7] }]] }],
  ])('%s is refused', (_, by) => {
    expect(
      readMatches(record(changed(matchesValue([{ window, more: held() }], undefined), by)), 'fw/0'),
    ).toBeUndefined()
  })
})

describe('a record of the state topic', () => {
  const input = { topic: 'fw', partition: 3 }
  const state: StateTopic = { topic: 'state', partitions: 2, groupId: 'soc/1', signingKey: 'k'.repeat(32) }
  const asRead = ({ key, value, headers }: Outgoing, more: Partial<WireRecord> = {}): WireRecord =>
    ({ key, value, headers, timestamp: '5', offset: '0', ...more }) as WireRecord
  const write = (to: StateTopic = state, value: Buffer | null = Buffer.from('{}')): Outgoing =>
    createWriteState(to, input, () => 5)('window', 'a/b', value)
  const all = (): boolean => true

  it('names its group and partition, and is at the input partition modulo the number of partitions', () => {
    expect([String(write().key), write().partition]).toEqual(['v2/soc%2F1/fw/3/window/a/b', 1])
    expect(createReadState(state, all)(asRead(write()))).toEqual({
      ...input,
      version: 2,
      kind: 'window',
      id: 'a/b',
      value: Buffer.from('{}'),
      at: 5,
    })
  })

  it('that is not wanted is not looked at', () => {
    const read = createReadState(state, ({ partition }) => partition === 1)
    expect(read(asRead(write({ ...state, signingKey: '' })))).toBeUndefined()
  })

  it.each([
    ['fw/3/pending/7/99/topic-1', 'pending', '7/99/topic-1'],
    ['fw/3/counted', 'counted', ''],
    ['fw/3/began/7', 'began', '7'],
    ['fw/3/accused/late/7/99', 'accused', 'late/7/99'],
    ['fw/3/2026-11-15/2001:db8::7', 'count', '2026-11-15/2001:db8::7'],
  ])('of version 1 is the same without a group: %s', (key, kind, id) => {
    const record = asRead(write(), { key: Buffer.from(key), headers: [] })
    expect(createReadState(state, all)(record)).toMatchObject({ ...input, version: 1, kind, id })
  })

  it.each(['used by group soc/1', 'fw/3/anything', 'v2/soc%2F1/fw/3', ''])('is not one of another key: %j', (key) => {
    expect(createReadState(state, all)(asRead(write(), { key: Buffer.from(key) }))).toBeUndefined()
  })

  it.each<[string, WireRecord]>([
    ['unsigned', asRead(write({ ...state, signingKey: '' }))],
    ['bad_signature', asRead(write({ ...state, signingKey: 'other'.repeat(7) }))],
    ['bad_signature', asRead(write(), { value: Buffer.from('{"count":1}') })],
    ['bad_signature', asRead(write(), { value: null })],
    ['other_group', asRead(write({ ...state, groupId: 'soc-2' }))],
    ['too_large', asRead(write(state, Buffer.alloc(300_000)))],
  ])('that somebody else has written is refused: %s', (refused, record) => {
    expect(createReadState(state, all)(record)).toEqual({ refused })
  })
})
