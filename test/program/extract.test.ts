import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { cliPath, root } from '../support/cli.js'

describe('extract', () => {
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
