// What `pipe` was told on its command line: feeds, limits, how long to wait, and whether lookups may be paid for.
import { fstatSync } from 'node:fs'
import { basename } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { hasIntelligence, twoWaysOut } from '../../config/intelligence-problems.js'
import type { Config } from '../../config/schema.js'
import { UsageError, type Arguments, type Io } from '../../terminal/command.js'

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

/** With neither key nor feeds every event would leave as unknown and look as if it had been examined. */
export const refuseWithoutIntelligence = (config: Config): void => {
  if (!hasIntelligence(config))
    throw new UsageError(`nothing could be known about any event: give --feed FILE, or configure ${twoWaysOut}`)
}

/** A feed is called after its file, with a number behind it where that is taken. */
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

/** Whether standard input was redirected from a file: then it has an end, and its answers are worth waiting for. */
const isFile = ({ stdin }: Io): boolean => {
  const fd = 'fd' in stdin && typeof stdin.fd === 'number' ? stdin.fd : undefined
  try {
    return fd !== undefined && fstatSync(fd).isFile()
  } catch {
    return false // closed, or not ours to look at: a stream like any other
  }
}

/** No lookup at all is a no that needs no asking; on a terminal a person is asked, elsewhere the limits are the answer. */
export const approval = (args: Arguments, config: Config, io: Io): { approve?: () => Promise<boolean> } => {
  if (Number(args.values['max-lookups']) === 0) return { approve: () => Promise.resolve(false) }
  const isAsked = args.values.yes !== true && io.stdin.isTTY === true && io.stderr.isTTY === true
  return isAsked ? { approve: () => confirm(config, io) } : {}
}

const confirm = async (config: Config, io: Io): Promise<boolean> => {
  const lines = createInterface({ input: io.stdin, output: io.stderr })
  try {
    const limit =
      config.admit.perRun > 0 ? `at most ${config.admit.perRun} calls` : 'as many calls as there are new indicators'
    const host = new URL(config.intel.service.baseUrl).host
    const answer = await lines.question(`Ask ${host}, ${limit}, each of which may cost a credit? [y/N] `, {
      signal: io.signal,
    })
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
