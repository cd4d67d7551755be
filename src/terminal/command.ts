// The interface of a command: help, options and a function that returns an exit code.
import type { Readable, Writable } from 'node:stream'
import type { ParseArgsConfig } from 'node:util'
import { messageOf } from '../base/message-of.js'

export type Io = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  /** Aborted on SIGINT and SIGTERM, and in a worker whose parent is gone. */
  readonly signal: AbortSignal
}

export type Arguments = {
  readonly positionals: readonly string[]
  readonly values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
}

/** What a value is, for shells to complete: a file, one of some words, or several of them with commas between. */
export type Takes = 'file' | readonly string[] | { readonly listOf: readonly string[] }

type Option = NonNullable<ParseArgsConfig['options']>[string] & {
  /** Of an option with a value; without it the value is free text. */
  readonly takes?: Takes
}

export type Command = {
  /** One line for the list of commands. */
  readonly summary: string
  /** What `threatweave NAME --help` prints: usage, options, an example that can be pasted. */
  readonly help: string
  readonly options: Readonly<Record<string, Option>>
  /** Options that have no effect together with this one, which are then refused. */
  readonly uselessBeside?: Readonly<Record<string, readonly string[]>>
  /** What its positional arguments are, by place; the last entry is for all that follow. Without it none are accepted. */
  readonly takesArguments?: readonly Takes[]
  /** What one line of its output is, for messages; by default `line`. */
  readonly unit?: (args: Arguments) => string
  readonly run: (args: Arguments, io: Io) => Promise<number>
}

/** By name, each loaded when it is needed. */
export type Commands = Readonly<Record<string, () => Promise<Command>>>

export const exitCodes = { ok: 0, failure: 1, usage: 64, configuration: 78 } as const

/** Thrown when output cannot be written; the message says what, why and how much was written. */
export class OutputError extends Error {
  constructor(what: string, cause: unknown, { stream, unit }: { readonly stream: Writable; readonly unit: string }) {
    const lines =
      'completeLines' in stream ? (stream as { readonly completeLines: () => number }).completeLines() : undefined
    const written = lines === undefined ? '' : `; ${lines} complete ${lines === 1 ? unit : `${unit}s`} written before`
    super(`cannot write ${what}: ${messageOf(cause)}${written}`)
  }
}

/** Thrown for a wrong command line; the message says what to do instead. */
export class UsageError extends Error {}
