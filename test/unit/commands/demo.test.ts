// What the demo says about what it shows.
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { keptText, showEvents } from '../../../src/commands/demo/show-events.js'
import type { Io } from '../../../src/terminal/command.js'

const shown = (...annotations: object[]): string => {
  const stdout = new PassThrough()
  const events = annotations.map((threatweave) => Buffer.from(JSON.stringify({ message: 'a line', threatweave })))
  showEvents(events, { stdout } as unknown as Io)
  return String(stdout.read())
}

describe('the demo', () => {
  it('explains the words that look like a fault, and only those that occur', () => {
    const out = shown(
      { status: 'complete', verdict: 'unknown', reason: 'no_verdict', summary: 'x' },
      { status: 'partial', verdict: 'malicious', summary: 'x: y' },
    )
    expect(out).toMatch(/^ {2}no_verdict .+ never called clean$/m)
    expect(out).toMatch(/^ {2}partial .+ left before every answer was there/m)
    expect(out).not.toMatch(/^ {2}pending/m)
    expect(shown({ status: 'complete', verdict: 'clean', summary: 'x' })).not.toContain('mean')
  })

  it('prints commands that can be pasted, wherever the program is', () => {
    const text = keptText('http://127.0.0.1:1/', '/home/a b/dist/cli.js', 'localhost:9092')
    expect(text).toContain("\n  node '/home/a b/dist/cli.js' tail --from earliest")
    expect(text).not.toMatch(/^ *threatweave /m)
    expect(keptText('', '/opt/dist/cli.js', '')).toContain('node /opt/dist/cli.js explain')
  })
})
