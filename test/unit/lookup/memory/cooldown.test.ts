import { describe, expect, it } from 'vitest'
import { reasons } from '../../../../src/domain/reason.js'
import { createCooldown } from '../../../../src/lookup/memory/cooldown.js'
import { createFakeClock } from '../../../support/clock.js'
import { cooldownSettings } from '../../../support/lookup.js'

const setUp = () => {
  const clock = createFakeClock()
  return { clock, cooldown: createCooldown(cooldownSettings, clock.now) }
}
const lengthOf = async ({ clock, cooldown }: ReturnType<typeof setUp>): Promise<number> => {
  let seconds = 0
  for (; cooldown.isCooling('ip:a'); seconds++) await clock.advance(1000)
  return seconds
}

describe('cooldown', () => {
  it('doubles with every failure up to an hour', async () => {
    const subject = setUp()
    const lengths: number[] = []
    for (let times = 0; times < 9; times++) {
      subject.cooldown.failed('ip:a', 'unavailable')
      lengths.push(await lengthOf(subject))
    }
    expect(lengths).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600])
  })

  it('begins anew after an answer', async () => {
    const subject = setUp()
    subject.cooldown.failed('ip:a', 'timeout')
    subject.cooldown.failed('ip:a', 'timeout')
    subject.cooldown.answered('ip:a')
    expect(subject.cooldown.isCooling('ip:a')).toBe(false)
    subject.cooldown.failed('ip:a', 'timeout')
    expect(await lengthOf(subject)).toBe(30)
  })

  it('leaves alone for a day what was refused as wrong input', async () => {
    const subject = setUp()
    subject.cooldown.failed('ip:a', 'bad_input')
    await subject.clock.advance(86_399_000)
    expect(subject.cooldown.isCooling('ip:a')).toBe(true)
    await subject.clock.advance(1000)
    expect(subject.cooldown.isCooling('ip:a')).toBe(false)
  })

  it('follows from nothing but failures that are about the one indicator', () => {
    const cooling = reasons.filter((reason) => {
      const { cooldown } = setUp()
      cooldown.failed('ip:a', reason)
      return cooldown.isCooling('ip:a')
    })
    expect(cooling).toEqual(['plan', 'unavailable', 'timeout', 'bad_answer', 'bad_input'])
  })

  it('holds a bounded number, the latest', () => {
    const { cooldown } = setUp()
    for (let nth = 0; nth < 5000; nth++) cooldown.failed(`ip:${nth}`, 'timeout')
    expect(cooldown.size()).toBeLessThanOrEqual(1000)
    for (let nth = 4500; nth < 5000; nth++) expect(cooldown.isCooling(`ip:${nth}`)).toBe(true)
    expect(cooldown.isCooling('ip:0')).toBe(false)
  })
})
