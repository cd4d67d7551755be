// Prints the remarks about checked files, one per line, and returns the exit code.
import { printable } from '../domain/control-characters.js'
import { exitCodes, type Arguments, type Io } from './command.js'
import { write, writeJson } from './write-lines.js'

type Remark = {
  /** A note is information, not a problem. */
  readonly kind: 'error' | 'warning' | 'note'
  readonly file: string
  readonly line?: number
  readonly message: string
}
/** `what` describes the content: `1 usable rule`. */
export type CheckedFile = { readonly what: string; readonly remarks: readonly Remark[] }

export const report = async ({ what, remarks }: CheckedFile, args: Arguments, io: Io): Promise<number> => {
  const isJson = args.values.json === true
  const lines = remarks.map(({ kind, file, line, message }) =>
    isJson
      ? JSON.stringify({ kind, file, line, message })
      : printable(`${kind.padEnd(8)} ${file}${line === undefined ? '' : `:${line}`}: ${message}`),
  )
  if (!isJson) lines.push(printable(what))
  await (isJson ? writeJson : write)(io.stdout, lines.map((line) => `${line}\n`).join(''))
  return remarks.some(({ kind }) => kind === 'error') ? exitCodes.failure : exitCodes.ok
}
