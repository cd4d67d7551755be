import { describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/telemetry/logger.js'

const collect = (options: {
  level?: string
  pretty?: boolean
  worker?: number
}): { lines: string[]; emit: ReturnType<typeof createLogger> } => {
  const lines: string[] = []
  const emit = createLogger(
    { write: (line) => lines.push(line) },
    {
      level: options.level ?? 'info',
      pretty: options.pretty ?? false,
      clock: () => Date.UTC(2026, 0, 2, 3, 4, 5),
      worker: options.worker,
    },
  )
  return { lines, emit }
}

describe('createLogger', () => {
  it('writes an event as one JSON line with its members and a sentence', () => {
    const { lines, emit } = collect({})
    emit({ event: 'stopped', command: 'pipe', cause: 'the input ended' })
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        level: 'info',
        time: '2026-01-02T03:04:05.000Z',
        event: 'stopped',
        command: 'pipe',
        cause: 'the input ended',
        msg: 'pipe stopped: the input ended',
      },
    ])
  })

  it('writes one short line for a person, without the control characters of what it tells', () => {
    const { lines, emit } = collect({ pretty: true })
    emit({ event: 'stopped', command: 'pipe', cause: 'said \u001b[31mred\u0007' })
    expect(lines).toEqual(['03:04:05 info  pipe stopped: said ?[31mred?\n'])
  })

  it('says which worker it is', () => {
    const json = collect({ worker: 2 })
    json.emit({ event: 'started', command: 'run' })
    expect(JSON.parse(json.lines[0] ?? '')).toMatchObject({ worker: 2, event: 'started' })
    const pretty = collect({ worker: 2, pretty: true })
    pretty.emit({ event: 'started', command: 'run' })
    expect(pretty.lines).toEqual(['03:04:05 info  worker 2: run started\n'])
  })

  it('logs nothing below its level', () => {
    const { lines, emit } = collect({ level: 'error' })
    emit({ event: 'started', command: 'pipe' })
    expect(lines).toEqual([])
  })
})
