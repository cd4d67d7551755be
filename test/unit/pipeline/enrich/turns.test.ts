import { describe, expect, it } from 'vitest'
import { createTurns } from '../../../../src/pipeline/enrich/turns.js'

describe('the event loop turns', () => {
  it.each([
    ['soon for lookups that are on their way', true, 4],
    ['now and then for heartbeats, also if nothing is looked up', false, 100],
  ])('%s', async (_, isWanted, afterMs) => {
    let nowMs = 0
    const { turn } = createTurns(
      () => isWanted,
      () => nowMs,
    )
    nowMs = afterMs - 1
    expect(turn()).toBeUndefined()
    nowMs = afterMs
    const turned = turn()
    expect(turned).toBeInstanceOf(Promise)
    await turned
    expect(turn()).toBeUndefined()
  })
})
