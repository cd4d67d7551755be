import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keyOf } from '../../../../src/domain/indicator.js'
import { openKeptMemory } from '../../../../src/lookup/memory/kept-memory.js'
import { indicators } from '../../../../src/lookup/question.js'
import { createMemory } from '../../../../src/lookup/memory/memory.js'
import { createFakeClock, newYear } from '../../../support/clock.js'
import { classify, indicator, known, malicious, memorySettings } from '../../../support/lookup.js'

let path: string
beforeEach(() => void (path = mkdtempSync(join(tmpdir(), 'kept-'))))
afterEach(() => rmSync(path, { recursive: true, force: true }))

const openIt = async (now = newYear, isBudgeted = false) => {
  const memory = createMemory(memorySettings, keyOf, classify)
  const clock = createFakeClock(now)
  const kept = await openKeptMemory(memory, indicators, {
    path,
    isNamed: true,
    isBudgeted,
    maxBytes: 1_048_576,
    clock,
    emit: () => undefined,
  })
  return { memory, kept }
}

describe('a kept memory', () => {
  it.each<[string, number, number | undefined]>([
    ['has what was kept', newYear + 1000, newYear],
    ['has bad news that is past its life', newYear + 48 * 3_600_000, newYear],
    ['has nothing that is past its use', newYear + 9 * 24 * 3_600_000, undefined],
    ['lets nothing live longer because the clock was set back', newYear - 1000, newYear - 1000],
  ])('%s', async (_title, later, at) => {
    const first = await openIt()
    if ('problem' in first.kept) return expect.fail(first.kept.problem)
    await first.kept.append?.(indicator(1), known(newYear, malicious))
    await first.kept.close()
    const second = await openIt(later)
    if ('problem' in second.kept) return expect.fail(second.kept.problem)
    expect(second.memory.get(keyOf(indicator(1)))?.finding.at).toBe(at)
    await second.kept.close()
  })

  it('says what is wrong with a folder that a budget is counted in, and lets go of it', async () => {
    mkdirSync(join(path, 'spent'))
    const { kept } = await openIt(newYear, true)
    expect(kept).toMatchObject({ problem: expect.stringContaining('cannot be used') as string })
    expect(readdirSync(path)).toEqual(['spent'])
  })

  it('goes on without a folder that cannot be used, and lets go of it', async () => {
    mkdirSync(join(path, 'spent'))
    const { kept } = await openIt()
    expect(kept).not.toHaveProperty('append')
    expect(readdirSync(path)).toEqual(['spent'])
  })

  it('that only reads has what its owner has written so far, and writes nothing', async () => {
    const owner = await openIt()
    if ('problem' in owner.kept) return expect.fail(owner.kept.problem)
    await owner.kept.append?.(indicator(1), known(newYear, malicious))
    owner.kept.ledger?.write({ hour: { index: 1, count: 2 }, day: { index: 3, count: 4 } })
    const before = readdirSync(path)
    const memory = createMemory(memorySettings, keyOf, classify)
    const options = { path, isNamed: true, isBudgeted: true, isReader: true, maxBytes: 1_048_576 }
    const kept = await openKeptMemory(memory, indicators, {
      ...options,
      clock: createFakeClock(newYear),
      emit: () => undefined,
    })
    if ('problem' in kept) return expect.fail(kept.problem)
    expect(memory.get(keyOf(indicator(1)))?.finding.at).toBe(newYear)
    expect(kept).not.toHaveProperty('append')
    expect(kept.ledger?.before).toEqual({ hour: { index: 1, count: 2 }, day: { index: 3, count: 4 } })
    await kept.close()
    expect(readdirSync(path)).toEqual(before)
    await owner.kept.close()
  })
})
