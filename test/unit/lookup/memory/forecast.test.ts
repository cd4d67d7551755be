import { describe, expect, it } from 'vitest'
import { createForecast } from '../../../../src/lookup/memory/forecast.js'

const hourMs = 3_600_000
const play = (
  options: { memory?: number; lifetimeHours?: number },
  events: readonly { key: string; hour: number }[],
): ReturnType<ReturnType<typeof createForecast>['report']> => {
  const forecast = createForecast({
    memory: options.memory ?? 1000,
    lifetimeMs: (options.lifetimeHours ?? 24) * hourMs,
  })
  for (const { key, hour } of events) forecast.see([key], hour * hourMs)
  return forecast.report(Date.parse('2026-11-15T12:00:00Z'))
}
const hours = (count: number, key: (hour: number) => string): { key: string; hour: number }[] =>
  Array.from({ length: count }, (_, hour) => ({ key: key(hour), hour }))

describe('createForecast', () => {
  it('asks once for what is seen again within its lifetime', () => {
    expect(
      play(
        {},
        hours(25, () => 'ip:198.51.100.60'),
      ),
    ).toMatchObject({
      events: 25,
      asks: 25,
      distinct: 1,
      lookups: 2,
      spanMs: 24 * hourMs,
      lookupsPerDay: 2,
      lookupsPerMonth: 60,
    })
  })

  it('asks again when the lifetime is over', () => {
    expect(
      play(
        { lifetimeHours: 2 },
        hours(25, () => 'ip:198.51.100.60'),
      ).lookups,
    ).toBe(13)
  })

  it('asks again for what a small memory had to drop', () => {
    const events = hours(12, (hour) => `ip:198.51.100.${hour % 3}`)
    expect(play({ memory: 3 }, events).lookups).toBe(3)
    expect(play({ memory: 2 }, events).lookups).toBe(12)
  })

  it('stretches a short log by how fast new indicators still come', () => {
    const repeating = play(
      {},
      hours(13, (hour) => `ip:198.51.100.${hour % 2}`),
    )
    const ever = play(
      {},
      hours(13, (hour) => `ip:198.51.100.${hour}`),
    )
    expect(repeating.lookupsPerDay).toBe(2)
    expect(ever.lookupsPerDay).toBeGreaterThan(20)
    expect(ever.lookupsPerDay).toBeLessThanOrEqual(26)
  })

  it('predicts nothing for a log that does not say how long it is', () => {
    const forecast = createForecast({ memory: 10, lifetimeMs: hourMs })
    forecast.see(['ip:198.51.100.1', 'ip:198.51.100.1'], undefined)
    expect(forecast.report(0)).toEqual({
      events: 1,
      asks: 2,
      distinct: 1,
      lookups: 1,
      eventsWithoutAsks: 0,
      hitRatio: 0.5,
    })
    expect(forecast.report(0, 12 * hourMs)).toHaveProperty('lookupsPerDay')
  })
})
