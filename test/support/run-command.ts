// Runs a command line in this process and collects its output, without starting a process.
import { Readable, Writable } from 'node:stream'
import { commands } from '../../src/commands/commands.js'
import { parseCommand } from '../../src/commands/parse-command.js'
import type { Command } from '../../src/terminal/command.js'
import { reportFailure } from '../../src/commands/report-failure.js'

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

const collect = (): { readonly stream: Writable; readonly text: () => string } => {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}

export const runCommand = async (
  args: readonly string[],
  {
    input = '',
    env = {},
    signal,
    isTerminal = false,
    isTyped = false,
    command,
  }: {
    input?: string | Buffer
    env?: Record<string, string>
    signal?: AbortSignal
    isTerminal?: boolean
    isTyped?: boolean
    /** Replaces the program's command of this name. */
    command?: Command
  } = {},
): Promise<Ran> => {
  const stdout = collect()
  const stderr = collect()
  const io = {
    env: { HOME: process.env.HOME, THREATWEAVE_MEMORY_PATH: 'none', ...env },
    // Simulates input typed on a terminal.
    stdin: Object.assign(Readable.from([Buffer.from(input)]), isTyped ? { isTTY: true } : {}),
    stdout: isTerminal || isTyped ? Object.assign(stdout.stream, { isTTY: true }) : stdout.stream,
    stderr: stderr.stream,
    signal: signal ?? new AbortController().signal,
  }
  const code = await parseCommand(
    command ? { ...commands, [args[0] ?? '']: () => Promise.resolve(command) } : commands,
    args,
  )
    .then(({ run }) => run(io))
    .catch((error: unknown) => reportFailure(error, stderr.stream))
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}
