// What every command has in common, as a user at a shell meets it: arguments, exit codes, signals, what cannot be written.
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'

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
