// A question for the name of an address: it is shown, and accuses nobody.
import { expect, it } from 'vitest'
import { openReader } from '../../../../src/app/open-app.js'
import { accepted } from '../../../../src/config/load-config.js'
import { load } from '../../../../src/config/load.js'
import { judge } from '../../../../src/domain/judge.js'
import { shippedTable } from '../../../../src/domain/judgement-table.js'
import type { Known } from '../../../../src/domain/finding.js'

const loaded = load({ values: { gate: { documentation: true } }, env: {}, readFile: () => '' })
if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
const reader = accepted(openReader(loaded.config))

const listed: Known = {
  status: 'known',
  facts: {
    flags: {},
    categories: ['c2'],
    listings: [{ feed: 'ours', entry: '203.0.113.9', level: 'malicious', categories: ['c2'] }],
  },
  source: 'feed:ours',
  at: 0,
}

/** Each address with what is decided about it, and the verdict if a feed lists it. */
const judgedIn = (line: string) =>
  reader.extract(reader.decode(Buffer.from(line))).sightings.map((sighting) => {
    const { level, reason } = judge(listed, sighting, shippedTable, 0)
    return [sighting.value, reader.decide(sighting).decision, level, ...(reason === undefined ? [] : [reason])]
  })

it('a question for the name of an address is looked up in feeds alone, and accuses nobody', () => {
  expect(judgedIn('{"dns":{"question":{"name":"9.113.0.203.in-addr.arpa","type":"PTR"}}}')).toEqual([
    ['203.0.113.9', 'feeds', 'unknown', 'reverse_lookup'],
  ])
})

it('an address that the event shows otherwise too is accused, whichever comes first', () => {
  const connection = '"src_ip":"10.0.0.5","dst_ip":"203.0.113.9"'
  const question = '"dns":{"question":{"name":"9.113.0.203.in-addr.arpa"}}'
  for (const line of [`{${connection},${question}}`, `{${question},${connection}}`])
    expect(judgedIn(line).filter(([value]) => value === '203.0.113.9')).toEqual([
      ['203.0.113.9', 'lookup', 'malicious'],
    ])
})
