// The `allow` command: adds a dated entry to a list of gate.allow, so that a false positive takes one command.
import { appendFileSync } from 'node:fs'
import { messageOf } from '../base/message-of.js'
import { loadConfig } from '../app/load-config.js'
import { configOption, readText } from '../config/load-config.js'
import { ConfigurationError } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { replaceControls } from '../domain/control-characters.js'
import { parseTimestamp } from '../domain/timestamp.js'
import { isWarninglist } from '../feeds/list-file.js'
import { loadGate } from '../feeds/load-lists.js'
import { exitCodes, UsageError, type Arguments, type Command } from '../terminal/command.js'
import { write } from '../terminal/write-lines.js'

export const allow: Command = {
  summary: 'allow an address, range or name until a date: for a false positive',
  help: `Usage: threatweave allow VALUE --until DATE --reason TEXT [options]

Adds VALUE to the first list of gate.allow that is plain text. Until the date nobody is asked about it, no feed accuses it, and it
raises no alert. VALUE is an address, a range (203.0.113.0/24) or a name; .example.com stands for everything below it too. Give the
listed address or host, not the machine of yours that talked to it: an entry that can have no effect is refused.

      --until DATE      when the entry ends (00:00 UTC), such as 2030-12-01
      --reason TEXT     why, for whoever reads the list later: a ticket, a name
  -c, --config FILE     the configuration (default: THREATWEAVE_CONFIG, or built-in defaults)

Example:
  threatweave allow shop.example.net --until 2030-12-01 --reason 'false positive of urlhaus, ticket 4711' -c threatweave.yaml

Exit codes: 0 added, 1 the list cannot be written, 64 wrong usage, 78 wrong configuration.
`,
  options: { ...configOption, until: { type: 'string' }, reason: { type: 'string' } },
  takesArguments: [[]],
  run: async (args, io) => {
    const entry = entryOf(args)
    const config = loadConfig(args, io)
    const file = listOf(config)
    const before = readText(file)
    const line = `${before === '' || before.endsWith('\n') ? '' : '\n'}${entry.text}\n`
    const problem = problemOf(config, file, before + line)
    if (problem !== undefined) throw new UsageError(problem)
    try {
      appendFileSync(file, line)
    } catch (error) {
      await write(io.stderr, `threatweave: cannot add to ${file}: ${messageOf(error)}\n`)
      return exitCodes.failure
    }
    await write(io.stdout, `${entry.value} is allowed until ${entry.until}, in ${file}\n`)
    return exitCodes.ok
  },
}

type NewEntry = { readonly value: string; readonly until: string; readonly text: string }

const entryOf = ({ positionals, values }: Arguments): NewEntry => {
  const [value, ...more] = positionals
  if (value === undefined || more.length > 0 || /\s|[#;]|\/\//.test(value))
    throw new UsageError('allow takes one address, range or name: threatweave allow 203.0.113.7 --until … --reason …')
  const until = typeof values.until === 'string' ? values.until.trim() : ''
  const end = parseTimestamp(until)
  if (end === undefined) throw new UsageError('--until must be a date, such as 2030-12-01')
  if (end <= Date.now()) throw new UsageError(`--until ${until} is past: the entry would have no effect`)
  const given = typeof values.reason === 'string' ? values.reason : ''
  const reason = replaceControls(given, () => ' ').trim()
  if (reason === '')
    throw new UsageError('--reason is required, so that a later reader can decide whether to delete the entry')
  return { value, until, text: `${value} until ${until} # ${reason}` }
}

const listOf = ({ gate }: Config): string => {
  const file = gate.allow.find((path) => !isWarninglist(readable(path)))
  if (file !== undefined) return file
  throw new ConfigurationError([
    {
      setting: 'gate.allow',
      message: 'has no plain-text list to add to: create an empty file and set gate: { allow: [FILE] }',
    },
  ])
}

const readable = (path: string): string => {
  try {
    return readText(path)
  } catch (error) {
    throw new ConfigurationError([
      { setting: 'gate.allow', message: `cannot be read: ${messageOf(error)}`, where: path },
    ])
  }
}

/** The problem of the list with the new entry, if any. */
const problemOf = (config: Config, file: string, content: string): string | undefined => {
  const loaded = loadGate(config.gate, config.intel.domain.ask, (path) => (path === file ? content : readText(path)))
  if (!('problems' in loaded)) return undefined
  const [first] = loaded.problems.filter(({ where }) => where?.startsWith(`${file}:`))
  return first ? `${first.where ?? file}: ${first.message}` : undefined
}
