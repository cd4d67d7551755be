// What was written once for a kind of event is not written again.
import { expect, it } from 'vitest'
import { activities } from '../../../../src/domain/activity.js'
import { createRangeSet } from '../../../../src/domain/range-set.js'
import { actions, directions } from '../../../../src/domain/sighting.js'
import { createKnownSightings, createOwner } from '../../../../src/pipeline/annotate/known-sightings.js'

it('keeps a text for every direction, action and activity', () => {
  const { finished } = createKnownSightings(createRangeSet([]))
  const owner = createOwner()
  const kinds = (['complete', 'partial'] as const).flatMap((status) =>
    directions.flatMap((direction) =>
      actions.flatMap((action) => activities.map((activity) => ({ status, direction, action, activity }))),
    ),
  )
  const about = {
    passwordAccepted: false,
    truncated: false,
    unread: undefined,
    reading: 'json',
    format: undefined,
  } as const
  const first = kinds.map((kind) => finished(owner, { ...about, ...kind }))
  expect(new Set(first).size).toBe(kinds.length)
  for (const [place, kind] of kinds.entries()) expect(finished(owner, { ...about, ...kind })).toBe(first[place])
  for (const [place, kind] of kinds.toReversed().entries())
    expect(finished(owner, { ...about, ...kind })).toBe(first.at(-1 - place))
})
