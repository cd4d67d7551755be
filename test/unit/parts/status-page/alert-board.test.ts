// The alerts of the status page: a row for each indicator.
import { describe, expect, it } from 'vitest'
import { alertJson } from '../../../../src/parts/status-page/content/alert-json.js'
import { alertNodes } from '../../../../src/parts/status-page/content/alerts.js'
import { toHtml } from '../../../../src/parts/status-page/markup/node.js'
import { createAlertBoard } from '../../../../src/parts/status-page/state/alert-board.js'
import type { RaisedAlert } from '../../../../src/ops/page.js'

const now = Date.parse('2026-11-19T12:00:00Z')

type Body = RaisedAlert['threatweave']
const alertOf = (id: string, body: Partial<Body> = {}, name = 'Connection to Malicious Address'): RaisedAlert => ({
  '@timestamp': '2026-11-19T08:00:00.000Z',
  event: { original: `line of ${id}` },
  rule: { id: name, name },
  threatweave: {
    alert_id: id,
    level: 'high',
    verdict: 'malicious',
    value: '203.0.113.9',
    summary: '203.0.113.9 is malicious: listed in urlhaus, category c2',
    direction: 'outbound',
    action: 'allowed',
    peer: '10.0.0.5',
    origin: 'firewall/3/9',
    count: 1,
    ...body,
  },
})
const boardOf = (...alerts: readonly RaisedAlert[]) => {
  const board = createAlertBoard(() => now)
  for (const alert of alerts) board.note(alert)
  return board
}
const shown = (board: ReturnType<typeof boardOf>): string =>
  alertNodes(board.all(), now, 'No alerts since the start.').map(toHtml).join('')

describe('an indicator', () => {
  it('has one row with its worst alert, all hosts and rules, and the sum of its events', () => {
    const board = boardOf(
      alertOf('a', { peer: '10.0.0.5', count: 2 }),
      alertOf('b', { peer: '10.0.0.6', level: 'critical', '@timestamp': 'x' } as never, 'Login from Malicious Address'),
      alertOf('c', { peer: '10.0.0.7', level: 'low', action: 'blocked', late: true }),
    )
    expect(board.all()).toMatchObject([
      {
        key: '203.0.113.9',
        level: 'critical',
        rules: ['Connection to Malicious Address', 'Login from Malicious Address'],
        hosts: ['10.0.0.7', '10.0.0.6', '10.0.0.5'],
        traffic: ['outbound allowed', 'outbound blocked'],
        kinds: ['late'],
        alerts: 3,
        events: 4,
        alert: { threatweave: { alert_id: 'b' } },
      },
    ])
  })

  it('counts a repeated alert once, and an update as events of the alert', () => {
    const update = { kind: 'update', count: 40, first_seen: '2026-11-19T07:00:00Z', last_seen: '2026-11-19T09:00:00Z' }
    const board = boardOf(alertOf('a'), alertOf('a'), alertOf('b', { ...update, peers: ['10.0.0.8'] }))
    expect(board.all()).toMatchObject([
      {
        alerts: 1,
        events: 41,
        hosts: ['10.0.0.5', '10.0.0.8'],
        first: Date.parse('2026-11-19T07:00:00Z'),
        last: Date.parse('2026-11-19T09:00:00Z'),
        alert: { threatweave: { alert_id: 'a' } },
      },
    ])
  })

  it('stands above those of a lower level, and below those with a newer alert', () => {
    const named = (id: string, value: string, level: string): RaisedAlert => alertOf(id, { value, level })
    const board = boardOf(
      named('1', '192.0.2.1', 'low'),
      named('2', '192.0.2.2', 'high'),
      named('3', '192.0.2.3', 'high'),
      named('4', '192.0.2.4', 'medium'),
    )
    expect(board.all().map(({ key }) => key)).toEqual(['192.0.2.3', '192.0.2.2', '192.0.2.4', '192.0.2.1'])
  })

  it('is not pushed out by a flood of lower ones, and floods are bounded', () => {
    const board = boardOf(alertOf('a'))
    for (let nth = 0; nth < 5000; nth++) board.note(alertOf(`f${nth}`, { value: `2001:db8::${nth}`, level: 'low' }))
    expect(board.all()).toHaveLength(41)
    expect(board.all()[0]?.key).toBe('203.0.113.9')
    expect(board.all()[1]?.key).toBe('2001:db8::4999')
  })

  it('keeps a bounded number of hosts and says that there are more', () => {
    const board = boardOf()
    for (let nth = 0; nth < 100; nth++) board.note(alertOf(`h${nth}`, { peer: `10.0.0.${nth}` }))
    const [row] = board.all()
    expect([row?.hosts.length, row?.hosts[0], row?.hostCount]).toEqual([32, '10.0.0.99', 33])
    expect(shown(board)).toContain('and at least 30 more')
  })

  it('counts hosts that its alerts do not name', () => {
    const peers = ['10.0.0.6', '10.0.0.7', '10.0.0.8']
    expect(shown(boardOf(alertOf('a', { peers })))).toContain('and 1 more')
    expect(shown(boardOf(alertOf('a', { peers, peers_omitted: 40 })))).toContain('and at least 41 more')
    expect(shown(boardOf(alertOf('a', { peers_omitted: 2 }), alertOf('b')))).toContain('and at least 2 more')
    expect(shown(boardOf(alertOf('a'), alertOf('b', { peer: '10.0.0.6' })))).not.toContain(' more')
    const large = alertOf('a', { peers, context: { banners: 'x'.repeat(40_000) } } as never)
    expect(shown(boardOf(large))).toContain('and at least 3 more')
  })

  it('is a row of several indicators where a retro alert sums them up', () => {
    const { value: _, ...body } = alertOf('r', {
      kind: 'retro_summary',
      indicators: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
    }).threatweave
    const html = shown(boardOf({ ...alertOf('r'), threatweave: body }))
    expect(html).toContain('192.0.2.1, 192.0.2.2')
    expect(html).toContain('and 1 more')
    expect(html).toContain('retro summary')
  })
})

describe('a row', () => {
  it('keeps its id when another alert about the indicator becomes its worst one', () => {
    const board = boardOf(alertOf('a'), alertOf('other', { value: '192.0.2.1', level: 'low' }))
    const ids = (): readonly (string | undefined)[] =>
      [...shown(board).matchAll(/<tr id="([^"]*)"/g)].map(([, id]) => id)
    const before = ids()
    board.note(alertOf('b', { level: 'critical' }))
    expect(shown(board)).toContain('href="alert?id=b"')
    expect(ids()).toEqual(before)
    expect(new Set(before).size).toBe(2)
  })

  it.each([
    [
      { source: 'service', categories: ['c2', 'malware'], score: 99 },
      'c2, malware · reported by the lookup service · score 99',
    ],
    [{ source: 'feed:urlhaus', feed: 'urlhaus', categories: ['c2'] }, 'c2 · listed in urlhaus'],
    [{ source: 'source:example', feed: 'urlhaus' }, 'listed in urlhaus · said by example'],
    [{ summary: 'something else' }, 'something else'],
  ])('says who accuses the indicator: %j', (body, why) => {
    expect(shown(boardOf(alertOf('a', body)))).toContain(`>${why}</span>`)
  })

  it('keeps no more of an alert than a bounded number of characters', () => {
    const context = { banners: 'x'.repeat(100_000) }
    const board = boardOf(alertOf('a', { context } as never))
    expect(alertJson('a', board)?.length).toBeLessThan(2000)
  })

  it('says level, indicator, why, who, how often and where', () => {
    const html = shown(
      boardOf(alertOf('a', { categories: ['c2'], as: { number: 64500, name: 'Example Net' }, country: 'NL' })),
    )
    expect(html).toContain('high</span>')
    expect(html).toContain('<a class="what" href="history?value=203.0.113.9">203.0.113.9</a>')
    expect(html).toContain('Example Net, NL')
    expect(html).toContain('<b>Connection to Malicious Address</b>')
    expect(html).toContain('listed in urlhaus, category c2')
    expect(html).toContain('>c2<')
    expect(html).toContain('find the program on 10.0.0.5 that asks for it; block 203.0.113.9')
    expect(html).toContain('10.0.0.5')
    expect(html).toContain('outbound, allowed')
    expect(html).toContain('08:00:00')
    expect(html).toContain('<a class="place" href="alert?id=a">firewall/3/9</a>')
    expect(html).toContain('<code>threatweave explain firewall/3/9</code>')
    expect(html).toContain('line of a')
  })

  it('can be found by address, host, rule, level and list, in lower case', () => {
    const find = /data-find="([^"]*)"/.exec(
      shown(boardOf(alertOf('a', { feed: 'URLhaus', peers: ['10.0.0.99'] }))),
    )?.[1]
    for (const word of ['203.0.113.9', '10.0.0.99', 'connection to', 'high', 'urlhaus', 'outbound allowed'])
      expect(find).toContain(word)
  })

  it('shows what is hostile as text', () => {
    const evil = '"><img src=x onerror=alert(1)>\u001b[31m\u202e'
    const html = shown(
      boardOf({
        ...alertOf('a', { value: evil, summary: evil, peer: evil, feed: evil, origin: evil, country: evil }, evil),
        event: { original: evil },
      }),
    )
    expect(html).not.toContain('<img')
    expect(html).not.toMatch(/[\u001b\u202e]/)
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;\\u001b[31m\\u202e')
  })

  it('says that there is none', () => {
    expect(shown(boardOf())).toContain('No alerts since the start.')
  })
})

describe('the JSON of an alert', () => {
  it('has the place of its event, the command that shows it, and the whole alert', () => {
    const board = boardOf(alertOf('a', { origin: 'fire.wall-1/3/42#7' }))
    expect(JSON.parse(alertJson('a', board) ?? '')).toEqual({
      topic: 'fire.wall-1',
      partition: 3,
      offset: 42,
      member: 7,
      command: "threatweave explain 'fire.wall-1/3/42#7'",
      alert: alertOf('a', { origin: 'fire.wall-1/3/42#7' }),
    })
  })

  it('has no command for an event that is in no topic, so that nothing hostile is pasted', () => {
    const board = boardOf(alertOf('a', { origin: "x; rm -rf ~ '" }))
    expect(Object.keys(JSON.parse(alertJson('a', board) ?? '') as object)).toEqual(['alert'])
  })

  it('is nothing for an alert that is not kept', () => {
    expect([alertJson('b', boardOf(alertOf('a'))), alertJson(undefined, boardOf())]).toEqual([undefined, undefined])
  })
})
