// What the demo says at its end.
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { isWaiting, keptText, nextText, showSummary } from '../../../../src/parts/demo/show-summary.js'
import type { Event } from '../../../../src/parts/demo/watch-topics.js'
import type { Io } from '../../../../src/terminal/command.js'

const indicator = { decision: 'lookup', value: '203.0.113.99' }
const event = (annotation: object): Event =>
  ({ message: 'a line', threatweave: { indicators: [indicator], summary: 'x: y', ...annotation } }) as never

const shown = (corrected: number, ...events: readonly Event[]): string => {
  const stdout = new PassThrough()
  showSummary({ events, corrected, calls: 2 }, { stdout } as unknown as Io)
  return String(stdout.read())
}

describe('the demo', () => {
  it('explains no_verdict where it occurs, and what memory saves', () => {
    const out = shown(0, event({ verdict: 'unknown', reason: 'no_verdict' }), event({ verdict: 'malicious' }))
    expect(out).toContain('2 lookups of 1 distinct values took 2 calls')
    expect(out).toMatch(/^ {2}\(no_verdict: .+ never called clean\)$/m)
    expect(out).not.toContain('corrected')
    expect(shown(0, event({ verdict: 'clean' }))).not.toContain('no_verdict')
  })

  it('says that what left before its answer was corrected', () => {
    expect(isWaiting(event({ verdict: 'unknown', reason: 'pending' }))).toBe(true)
    expect(isWaiting(event({ verdict: 'unknown', reason: 'deadline' }))).toBe(true)
    expect(isWaiting(event({ verdict: 'unknown', reason: 'no_verdict' }))).toBe(false)
    expect(shown(1, event({ verdict: 'clean' }))).toContain('\n1 event left before the answer; each was corrected\n')
  })

  it('prints commands that can be pasted, wherever the program is', () => {
    const kept = { page: 'http://127.0.0.1:1/', brokers: 'localhost:9092', output: 'out', origin: 'out/1/7' }
    const text = keptText({ ...kept, program: '/home/a b/dist/cli.js' })
    expect(text).toContain("\n  node '/home/a b/dist/cli.js' tail --from earliest")
    expect(text).not.toMatch(/^ *threatweave /m)
    expect(keptText({ ...kept, program: '/opt/dist/cli.js' })).toContain('node /opt/dist/cli.js explain out/1/7\n')
    expect(nextText('http://127.0.0.1:1/', 'dist/cli.js')).toContain('\n  node dist/cli.js demo --keep\n')
  })
})
