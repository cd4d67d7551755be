// Reports a failed command on standard error, and returns its exit code.
import type { Writable } from 'node:stream'
import { printable } from '../domain/control-characters.js'
import { ConfigurationError } from '../config/problem.js'
import { exitCodes, OutputError, UsageError } from '../terminal/command.js'

export const reportFailure = (error: unknown, stderr: Writable): number => {
  if (error instanceof ConfigurationError) {
    const count = error.problems.length
    const lines = error.message.replace(/^/gm, '  ')
    say(`${count === 1 ? 'a problem' : `${count} problems`} in the configuration:\n${lines}`, stderr)
    return exitCodes.configuration
  }
  if (error instanceof UsageError || error instanceof OutputError) say(error.message, stderr)
  else say(`unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, stderr)
  return error instanceof UsageError ? exitCodes.usage : exitCodes.failure
}

/** Escapes control characters, which file names and settings may contain. */
const say = (text: string, stderr: Writable): void => {
  stderr.write(`threatweave: ${text.split('\n').map(printable).join('\n')}\n`)
}
