import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { cliPath, root, runCli } from '../support/cli.js'

describe('extract', () => {
  it('prints one object per line, in order, and sends nothing', async () => {
    const { code, stdout } = await runCli(['extract'], { input: 'action=deny src=8.8.8.8 dst=10.0.0.5\n{"a":1}\n' })
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

  it.each([
    ['an option it does not know', ['extract', '--nonsense'], 64],
    ['a configuration that is not there', ['extract', '--config', '/nonexistent.yaml'], 78],
    ['a file that is not there', ['extract', '/nonexistent.log'], 64],
  ])('ends %s with the exit code for it and a word on standard error', async (_, args, expected) => {
    const { code, stdout, stderr } = await runCli(args)
    expect(code).toBe(expected)
    expect(stdout).toBe('')
    expect(stderr).not.toBe('')
  })

  it('ends quietly when the pipe is closed', async () => {
    const child = spawn(process.execPath, [cliPath, 'extract'], { cwd: root, stdio: ['pipe', 'pipe', 'pipe'] })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.stdin.on('error', () => undefined) // it has gone
    child.stdin.end('src=8.8.8.8 dst=10.0.0.5\n'.repeat(200_000))
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const [code] = (await once(child, 'close')) as [number | null]
    expect(code).toBe(0)
    expect(said).toBe('')
  })

  it('ends on a signal, having answered what it read', async () => {
    const child = spawn(process.execPath, [cliPath, 'extract'], { cwd: root, stdio: ['pipe', 'pipe', 'ignore'] })
    child.stdin.write('src=8.8.8.8 dst=10.0.0.5\n')
    const [first] = (await once(child.stdout, 'data')) as [Buffer]
    expect(first.toString()).toContain('"8.8.8.8"')
    child.kill('SIGTERM')
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    expect(code === 0 || code === 143 || signal === 'SIGTERM').toBe(true)
  })
})
