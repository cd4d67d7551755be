// Prevents `--alerts FILE` from overwriting an input file, feed, list, rule or configuration.
import { fstatSync, statSync, type Stats } from 'node:fs'
import type { Config } from '../../config/schema.js'
import { UsageError, type Arguments, type Io } from '../../terminal/command.js'
import { configFileOf } from '../../config/load-config.js'

/** Compares files by device and inode. */
export const refuseOverwriting = (args: Arguments, config: Config, io: Io): void => {
  const { alerts } = args.values
  if (typeof alerts !== 'string' || alerts === '-') return
  const target = statSync(alerts, { throwIfNoEntry: false })
  if (!target?.isFile()) return
  const isTarget = (other: Stats | undefined): boolean => other?.dev === target.dev && other.ino === target.ino
  const refuse = (what: string): never => {
    throw new UsageError(`--alerts ${alerts} would overwrite ${what}; name another file`)
  }
  const input = args.positionals.length === 0 ? ['-'] : args.positionals
  const read: readonly (readonly [what: string, path: string | undefined])[] = [
    ...input.filter((path) => path !== '-').map((path) => ['the input', path] as const),
    ...config.feeds.map(({ name, path }) => [`the feed ${name}`, path] as const),
    ...[...config.gate.allow, ...config.gate.deny].map((path) => ['a list of the gate', path] as const),
    ...config.alerts.rules.map((path) => ['a rule', path] as const),
    ['the configuration', configFileOf(args, io)],
  ]
  for (const [what, path] of read)
    if (path !== undefined && path !== '' && isTarget(statSync(path, { throwIfNoEntry: false }))) refuse(what)
  if (input.includes('-') && isTarget(statOf(io.stdin))) refuse('the input')
  if (isTarget(statOf(io.stdout))) refuse('the annotated events')
}

const statOf = (stream: object): Stats | undefined => {
  if (!('fd' in stream) || typeof stream.fd !== 'number') return undefined
  try {
    return fstatSync(stream.fd)
  } catch {
    return undefined // closed
  }
}
