import { describe, expect, it } from 'vitest'
import { runCommand } from '../../support/run-command.js'

describe('extract', () => {
  it('prints one object per line, in order, and sends nothing', async () => {
    const { code, stdout } = await runCommand(['extract'], { input: 'action=deny src=8.8.8.8 dst=10.0.0.5\n{"a":1}\n' })
    expect(code).toBe(0)
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      {
        action: 'blocked',
        direction: 'inbound',
        indicators: [
          { type: 'ip', value: '8.8.8.8', field: 'src', role: 'source', decision: 'lookup' },
          {
            type: 'ip',
            value: '10.0.0.5',
            field: 'dst',
            role: 'destination',
            decision: 'skip',
            reason: 'private_address',
          },
        ],
      },
      { action: 'unknown', direction: 'unknown', indicators: [] },
    ])
  })

  it('is a table with line numbers for a person, and JSON there too if asked', async () => {
    const input = 'action=deny src=8.8.8.8 dst=10.0.0.5\n{"a":1}\n'
    const { code, stdout } = await runCommand(['extract'], { input, isTerminal: true })
    expect(code).toBe(0)
    expect(stdout.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['line', 'action', 'direction', 'role', 'value', 'field', 'would be'],
      ['1', 'blocked', 'inbound', 'source', '8.8.8.8', 'src', 'looked up'],
      ['destination', '10.0.0.5', 'dst', 'skipped (private_address)'],
      ['2', 'unknown', 'unknown', 'no address or name'],
      [''],
    ])
    expect((await runCommand(['extract', '--json'], { input, isTerminal: true })).stdout).toMatch(/^\{"action"/)
  })

  it.each([
    ['an option it does not know', ['extract', '--nonsense'], 64],
    ['a configuration that is not there', ['extract', '--config', '/nonexistent.yaml'], 78],
    ['a file that is not there', ['extract', '/nonexistent.log'], 64],
  ])('ends %s with the exit code for it and a word on standard error', async (_, args, expected) => {
    const { code, stdout, stderr } = await runCommand(args)
    expect(code).toBe(expected)
    expect(stdout).toBe('')
    expect(stderr).not.toBe('')
  })
})
