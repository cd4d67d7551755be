// The rules that have fired for the members of a batch, as rules of the batch: each with the index of its member.
import type { RaiseLate } from './revisit.js'

export const rulesOfMember = (member: number, ruleIds: readonly string[]): readonly string[] =>
  ruleIds.map((id) => `${member} ${id}`)

const firedFor = (member: number, fired: readonly string[]): readonly string[] => {
  const start = `${member} `
  return fired.flatMap((rule) => (rule.startsWith(start) ? [rule.slice(start.length)] : []))
}

/** Raises late alerts for events that may be batches: members count as events of their own. */
export const raiseByMember =
  <Event extends { readonly members?: readonly Event[] | undefined }, Alert>(
    raise: RaiseLate<Event, Alert>,
  ): RaiseLate<Event, Alert> =>
  (events) => {
    const { alerts, fired } = raise(
      events.flatMap(({ event, fired: before }) =>
        event.members
          ? event.members.map((member, nth) => ({ event: member, fired: firedFor(nth, before) }))
          : [{ event, fired: before }],
      ),
    )
    let place = 0
    const firedOf = ({ members }: Event): readonly string[] =>
      members ? members.flatMap((_, nth) => rulesOfMember(nth, fired[place++] ?? [])) : (fired[place++] ?? [])
    return { alerts, fired: events.map(({ event }) => firedOf(event)) }
  }
