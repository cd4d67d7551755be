// Parses the arguments of the program into a command with its options.
import { parseArgs } from 'node:util'
import { didYouMean } from '../config/did-you-mean.js'
import { exitCodes, UsageError, type Arguments, type Command, type Commands, type Io } from '../terminal/command.js'
import { version } from '../terminal/version.js'

/** A command with valid arguments, ready to run. */
type ParsedCommand = {
  /** The unit of its output, for error messages. */
  readonly unit: string
  readonly run: (io: Io) => Promise<number>
}

/** Throws a UsageError for invalid arguments. */
export const parseCommand = async (commands: Commands, argv: readonly string[]): Promise<ParsedCommand> => {
  const [name, ...rest] = argv
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const topic = await find(commands, rest[0])
    if (rest[0] !== undefined && !rest[0].startsWith('-') && !topic) throw noCommand(commands, rest[0])
    return printed(topic ? topic.help : await overview(commands), name === undefined ? exitCodes.usage : exitCodes.ok)
  }
  if (name === '--version' || name === '-V' || name === 'version') return printed(`${version}\n`)
  const command = await find(commands, name)
  if (!command) throw noCommand(commands, name)
  const args = parseOptions(name, command, rest)
  if (args.values['help'] === true) return printed(command.help)
  refuseUseless(command, args.values)
  const [extra] = args.positionals
  if (extra !== undefined && command.takesArguments === undefined)
    throw new UsageError(refuseArgument(name, command, extra))
  return { unit: command.unit?.(args) ?? 'line', run: (io) => command.run(args, io) }
}

const printed = (text: string, code: number = exitCodes.ok): ParsedCommand => ({
  unit: 'line',
  run: ({ stdout }) => {
    stdout.write(text)
    return Promise.resolve(code)
  },
})

const overview = async (commands: Commands): Promise<string> => {
  const width = Math.max(...Object.keys(commands).map((name) => name.length), 0)
  const list: string[] = []
  for (const [name, loadCommand] of Object.entries(commands))
    list.push(`  ${name.padEnd(width)}  ${(await loadCommand()).summary}`)
  return `threatweave: adds threat intelligence to a log stream

Usage: threatweave COMMAND [options]

Commands:
${list.join('\n')}

\`threatweave COMMAND --help\` explains a command; \`threatweave --version\` prints the version.
Exit codes: 0 done, 1 failed, 64 wrong usage, 78 wrong configuration,
130 and 143 interrupted by SIGINT and SIGTERM.
`
}

const find = (commands: Commands, name: string | undefined): Promise<Command | undefined> =>
  name !== undefined && Object.hasOwn(commands, name)
    ? (commands[name]?.() ?? Promise.resolve(undefined))
    : Promise.resolve(undefined)

const noCommand = (commands: Commands, name: string): UsageError => {
  const meant = didYouMean(name, [...Object.keys(commands), 'help', 'version'])
  return new UsageError(`there is no command ${JSON.stringify(name)}${meant || '; `threatweave --help` lists them'}`)
}

const refuseUseless = ({ uselessBeside = {} }: Command, values: Readonly<Record<string, unknown>>): void => {
  for (const [name, others] of Object.entries(uselessBeside))
    for (const other of others)
      if (values[name] !== undefined && values[other] !== undefined)
        throw new UsageError(`--${other} has no effect with --${name}; remove one of them`)
}

const refuseArgument = (name: string, { options }: Command, extra: string): string => {
  const isFile = 'config' in options && /\.ya?ml$/i.test(extra)
  return isFile
    ? `${name} takes no arguments; did you mean --config ${extra}?`
    : `${name} takes no arguments, and ${JSON.stringify(extra)} is one`
}

const parseOptions = (name: string, command: Command, args: string[]): Arguments => {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
    })
  } catch (error) {
    // Keeps the first sentence of Node; the rest concerns arguments that start with a dash.
    const sentence = error instanceof Error ? error.message.split(/\. To specify|\.?\n/)[0] : undefined
    const wrong = /^Unknown option '(--?[^']+)'/.exec(sentence ?? '')?.[1]
    const names = [...Object.keys(command.options), 'help'].map((option) => `--${option}`)
    if (wrong === undefined) throw new UsageError(`${sentence ?? 'the options are invalid'}; \`--help\` lists them`)
    const meant = didYouMean(wrong, names)
    throw new UsageError(`${sentence ?? ''}${meant === '' ? ';' : meant} ${name} has ${names.join(', ')}`)
  }
}
