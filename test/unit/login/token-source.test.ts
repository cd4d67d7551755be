// One token for all connections: when it is asked for, renewed, kept and given up.
import { describe, expect, it } from 'vitest'
import type { LoginFailure } from '../../../src/kafka/login.js'
import { createTokenSource, type ObtainToken } from '../../../src/login/token-source.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { createFakeClock, newYear, settle } from '../../support/clock.js'

const hour = 3_600_000
const away: LoginFailure = { code: 'unavailable', message: 'the token server does not answer' }

/** Hands out t1, t2, … of an hour each, or what `next` says. */
const setUp = () => {
  const clock = createFakeClock()
  const asked: number[] = []
  const said: TelemetryEvent[] = []
  let next: ObtainToken | undefined
  const login = createTokenSource(
    () => {
      asked.push(clock.now() - newYear)
      return next ? next() : Promise.resolve({ value: `t${asked.length}`, lifeMs: hour })
    },
    { clock, emit: (event) => said.push(event) },
  )
  return {
    clock,
    asked,
    said,
    login,
    fails: (failure: Awaited<ReturnType<ObtainToken>> = away) => {
      next = () => Promise.resolve(failure)
    },
    works: () => {
      next = undefined
    },
    hangs: () => {
      next = () => new Promise(() => undefined)
    },
  }
}
const valueOf = async (login: ReturnType<typeof setUp>['login']): Promise<string> => {
  const got = await login()
  return 'code' in got ? got.code : got.value
}

describe('a token source', () => {
  it('asks for nothing before a connection does, and once for many', async () => {
    const { login, asked, clock } = setUp()
    await clock.advance(hour)
    expect(asked).toEqual([])
    expect(await Promise.all(Array.from({ length: 50 }, () => valueOf(login)))).toEqual(Array(50).fill('t1'))
    expect(asked.length).toBe(1)
  })

  it('renews at 80 % of its life, without anybody asking, again and again', async () => {
    const { login, asked, clock } = setUp()
    await valueOf(login)
    await clock.advance(0.8 * hour - 1)
    expect(asked).toEqual([0])
    await clock.advance(1)
    expect(asked).toEqual([0, 0.8 * hour])
    expect(await valueOf(login)).toBe('t2')
    await clock.advance(24 * hour)
    expect(asked.length).toBe(1 + Math.floor(24.8 / 0.8))
    expect(clock.timers()).toBe(1)
  })

  it('keeps using its token while the server is away, tries again further and further apart, and has none when it has ended', async () => {
    const { login, asked, clock, fails, works, said } = setUp()
    await valueOf(login)
    fails()
    await clock.advance(0.8 * hour + 60_000)
    expect(asked.slice(1).map((at) => (at - 0.8 * hour) / 1000)).toEqual([0, 1, 3, 7, 15, 31])
    expect(await valueOf(login)).toBe('t1')
    expect(said[0]).toEqual({
      event: 'kafka_client_warned',
      about: 'login',
      message: 'the token server does not answer; the token in use is valid for 715 s more',
    })
    await clock.advance(0.2 * hour)
    expect(await login()).toEqual(away)
    expect(said.at(-1)).toMatchObject({ message: 'the token server does not answer' })
    works()
    await clock.advance(30_000)
    expect(await valueOf(login)).toMatch(/^t\d+$/)
    expect(clock.timers()).toBe(1)
  })

  it('answers with the token in use while a new one is on its way', async () => {
    const { login, clock, hangs } = setUp()
    await valueOf(login)
    hangs()
    await clock.advance(0.9 * hour)
    expect(await valueOf(login)).toBe('t1')
  })

  it('does not ask a server that just failed once for every connection, and soon enough for the next one', async () => {
    const { login, asked, clock, fails, works } = setUp()
    fails()
    for (let times = 0; times < 20; times++) expect(await login()).toEqual(away)
    expect(asked.length).toBe(1)
    works()
    await clock.advance(999)
    expect(await valueOf(login)).toBe('unavailable')
    await clock.advance(1)
    expect(await valueOf(login)).toBe('t2')
  })

  it('waits as long as the server asks for, up to half a minute', async () => {
    const { login, asked, clock, fails } = setUp()
    await valueOf(login)
    fails({ ...away, retryAfterMs: 3_600_000 })
    await clock.advance(0.8 * hour + 45_000)
    expect(asked.slice(1).map((at) => (at - 0.8 * hour) / 1000)).toEqual([0, 30])
  })

  it('hands out no token in its last moments, in which it could end on its way', async () => {
    const { login, clock, fails } = setUp()
    await valueOf(login)
    fails()
    await clock.advance(hour - 5_001)
    expect(await valueOf(login)).toBe('t1')
    await clock.advance(1)
    expect(await valueOf(login)).toBe('unavailable')
  })

  it('counts the life of a token from before it was asked for', async () => {
    const clock = createFakeClock()
    const login = createTokenSource(
      () => new Promise((resolve) => clock.after(10_000, () => resolve({ value: 't', lifeMs: 100_000 }))),
      { clock, emit: () => undefined },
    )
    const first = login()
    await clock.advance(10_000)
    expect(await first).toEqual({ value: 't', endsAt: newYear + 95_000 })
    await settle()
  })
})
