// What every command has in common, as a user at a shell meets it: arguments, exit codes, signals, what cannot be written.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { cliPath, runCli } from '../support/cli.js'

describe('the command line', () => {
  it.each([
    [['check', 'bad.yaml'], 'check takes no arguments; did you mean --config bad.yaml?'],
    [['run', 'extra'], 'run takes no arguments, and "extra" is one'],
    [['serve', 'foo'], 'serve takes no arguments, and "foo" is one'],
    [['replay', 'foo', '--topic', 'firewall'], 'replay takes no arguments, and "foo" is one'],
    [['demo', 'foo'], 'demo takes no arguments, and "foo" is one'],
  ])('refuses %j, which takes no arguments', async (args, sentence) => {
    expect(await runCli(args)).toEqual({ code: 64, stdout: '', stderr: `threatweave: ${sentence}\n` })
  })
})

describe('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends pipe after %s with what came through and a sentence', async (signal, code) => {
    const child = spawn(process.execPath, [cliPath, 'pipe'], { env: { PATH: process.env.PATH ?? '' } })
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdin.write('src=192.0.2.1 action=deny\n')
    await once(child.stdout, 'data')
    child.kill(signal)
    expect(await once(child, 'close')).toEqual([code, null])
    expect(stderr).toContain('threatweave: stopped after 1 event\n')
  })
})
