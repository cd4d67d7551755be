// The interface of a command: help, options and a function that returns an exit code.
import type { Readable, Writable } from 'node:stream'
import type { ParseArgsConfig } from 'node:util'
import { messageOf } from '../base/message-of.js'

export type Io = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  /** Aborted on SIGINT and SIGTERM, and in a worker when its parent is gone. */
  readonly signal: AbortSignal
}

export type Arguments = {
  readonly positionals: readonly string[]
  readonly values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
}

/** The kind of a value, for shell completion: a file, one word of a list, or several separated by commas. */
export type Takes = 'file' | readonly string[] | { readonly listOf: readonly string[] }

type Option = NonNullable<ParseArgsConfig['options']>[string] & {
  /** The kind of the option's value; absent for free text. */
  readonly takes?: Takes
}

export type Command = {
  /** One line for the list of commands. */
  readonly summary: string
  /** The output of `threatweave NAME --help`: usage, options and an example to paste. */
  readonly help: string
  readonly options: Readonly<Record<string, Option>>
  /** Options without effect next to this one; such a combination is refused. */
  readonly uselessBeside?: Readonly<Record<string, readonly string[]>>
  /** The kinds of positional arguments, in order; the last applies to all further ones. Absent: none are accepted. */
  readonly takesArguments?: readonly Takes[]
  /** The unit of its output in messages; the default is `line`. */
  readonly unit?: (args: Arguments) => string
  readonly run: (args: Arguments, io: Io) => Promise<number>
}

/** Commands by name, loaded on demand. */
export type Commands = Readonly<Record<string, () => Promise<Command>>>

export const exitCodes = { ok: 0, failure: 1, usage: 64, configuration: 78 } as const

/** Thrown when output cannot be written; the message has the cause and the amount written. */
export class OutputError extends Error {
  constructor(what: string, cause: unknown, { stream, unit }: { readonly stream: Writable; readonly unit: string }) {
    const lines =
      'completeLines' in stream ? (stream as { readonly completeLines: () => number }).completeLines() : undefined
    const written = lines === undefined ? '' : `; ${lines} complete ${lines === 1 ? unit : `${unit}s`} written before`
    super(`cannot write ${what}: ${messageOf(cause)}${written}`)
  }
}

/** Thrown for an invalid command line; the message has the remedy. */
export class UsageError extends Error {}
