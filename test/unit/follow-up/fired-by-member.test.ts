// Late alerts of batches: a rule fires once for each member.
import { expect, it } from 'vitest'
import { firingsOfMember, raiseByMember } from '../../../src/follow-up/revisit.js'

type Event = { readonly origin: string; readonly members?: readonly Event[] }

it('raises for every member of a batch what has not fired for that member, and notes the rules with the member', () => {
  const asked: unknown[] = []
  const raise = raiseByMember<Event, string>((events) => {
    asked.push(...events.map(({ event, fired }) => [event.origin, fired]))
    return {
      alerts: events.map(({ event }) => event.origin),
      fired: events.map(({ fired }) => [...fired, 'new rule']),
    }
  })
  const batch = { origin: 'b', members: [{ origin: 'b#0' }, { origin: 'b#1' }] }
  const { alerts, fired } = raise([
    { event: { origin: 'a' }, fired: ['1 old'] },
    { event: batch, fired: [...firingsOfMember(1, ['old rule']), ...firingsOfMember(11, ['other'])] },
  ])
  expect(asked).toEqual([
    ['a', ['1 old']],
    ['b#0', []],
    ['b#1', ['old rule']],
  ])
  expect(alerts).toEqual(['a', 'b#0', 'b#1'])
  expect(fired).toEqual([
    ['1 old', 'new rule'],
    ['0 new rule', '1 old rule', '1 new rule'],
  ])
})
