// Command-line options of `pipe`: feeds, limits, mode, and consent to paid lookups.
import { fstatSync, statSync, type Stats } from 'node:fs'
import { basename } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { budgetOf } from '../../config/budget.js'
import type { Config } from '../../config/schema.js'
import { UsageError, type Arguments, type Io } from '../../terminal/command.js'
import { configFileOf } from '../../config/load-config.js'
import { hasIntelligence, twoWaysOut } from '../../config/intelligence-problems.js'

export const withArguments = (config: Config, args: Arguments): Config => {
  const paths = (args.values.feed as string[] | undefined) ?? []
  const maxLookups = args.values['max-lookups']
  if (maxLookups !== undefined && !/^\d{1,9}$/.test(String(maxLookups)))
    throw new UsageError(`--max-lookups must be a whole number, not ${JSON.stringify(maxLookups)}`)
  const more: Config['feeds'][number][] = []
  for (const path of paths)
    more.push({
      name: feedName(path, new Set([...config.feeds, ...more].map(({ name }) => name))),
      path,
      level: 'malicious',
      categories: [],
    })
  return {
    ...config,
    feeds: [...config.feeds, ...more],
    ...(maxLookups === undefined ? {} : { admit: { ...config.admit, perRun: Number(maxLookups) } }),
  }
}

/** Without key and feeds every verdict would be unknown, and events would look examined. */
export const refuseWithoutIntelligence = (config: Config): void => {
  if (!hasIntelligence(config))
    throw new UsageError(`there is no source of verdicts: give --feed FILE, or configure ${twoWaysOut}`)
}

/** Names a feed after its file, with a number if that name is taken. */
const feedName = (path: string, taken: ReadonlySet<string>): string => {
  const plain = basename(path)
    .replace(/\.gz$/i, '')
    .replace(/(?<=.)\.[A-Za-z0-9]{1,8}$/, '')
  const name =
    plain
      .replace(/[^A-Za-z0-9_.-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 60) || 'feed'
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? name : `${name}-${count}`
    if (!taken.has(candidate)) return candidate
  }
}

export const modeOf = (args: Arguments, config: Config, io: Io): 'live' | 'complete' => {
  const mode = args.values.mode ?? config.enrich.mode
  if (mode === 'live' || mode === 'complete') return mode
  if (mode !== 'auto') throw new UsageError(`--mode must be live or complete, not ${JSON.stringify(mode)}`)
  return args.positionals.some((name) => name !== '-') || isFile(io) ? 'complete' : 'live'
}

/** Whether standard input is a file, whose end makes it possible to wait for all lookups. */
const isFile = ({ stdin }: Io): boolean => {
  const fd = 'fd' in stdin && typeof stdin.fd === 'number' ? stdin.fd : undefined
  try {
    return fd !== undefined && fstatSync(fd).isFile()
  } catch {
    return false // closed
  }
}

/** Asks for consent on a terminal; elsewhere the configured limits apply. */
export const approval = (args: Arguments, config: Config, io: Io): { approve?: () => Promise<boolean> } => {
  if (Number(args.values['max-lookups']) === 0) return { approve: () => Promise.resolve(false) }
  const isAsked = args.values.yes !== true && io.stdin.isTTY === true && io.stderr.isTTY === true
  return isAsked ? { approve: () => confirm(config, io) } : {}
}

const confirm = async (config: Config, io: Io): Promise<boolean> => {
  const lines = createInterface({ input: io.stdin, output: io.stderr })
  try {
    const { perRun, perDay, isDefault } = budgetOf(config.admit)
    const usual = `one or two calls per new indicator${isDefault ? `, ${perDay} a day at most` : ''}`
    const limit = perRun > 0 ? `at most ${perRun} calls` : usual
    const host = new URL(config.intel.service.baseUrl).host
    const answer = await lines.question(`Send lookups to ${host}, ${limit}, each of which may cost a credit? [y/N] `, {
      signal: io.signal,
    })
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}

/** Prevents `--alerts FILE` from overwriting an input, feed, list, rule or configuration file; compares device and inode. */
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
