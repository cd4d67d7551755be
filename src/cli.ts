#!/usr/bin/env node
// The command table: name → one function; nothing else.
import { constants } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { exitCodes, OutputError, UsageError, type Command, type Io } from './terminal/command.js'
import { ConfigurationError } from './config/problem.js'
import { standardError, standardOutput } from './terminal/file-output.js'
import { printable } from './terminal/table.js'
import { version } from './terminal/version.js'
import { didYouMean } from './config/did-you-mean.js'

/** Loaded on demand, so that each command loads only its own libraries. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  api: async () => (await import('./commands/api.js')).api,
  check: async () => (await import('./commands/check.js')).check,
  demo: async () => (await import('./commands/demo/demo.js')).demo,
  estimate: async () => (await import('./commands/estimate.js')).estimate,
  explain: async () => (await import('./commands/explain/explain.js')).explain,
  extract: async () => (await import('./commands/extract.js')).extract,
  feeds: async () => (await import('./commands/feeds.js')).feeds,
  history: async () => (await import('./commands/history/history.js')).history,
  lookup: async () => (await import('./commands/lookup/lookup.js')).lookup,
  pipe: async () => (await import('./commands/pipe/pipe.js')).pipe,
  replay: async () => (await import('./commands/replay/replay.js')).replay,
  run: async () => (await import('./commands/run.js')).run,
  rules: async () => (await import('./commands/rules.js')).rules,
  serve: async () => (await import('./commands/serve.js')).serve,
  tail: async () => (await import('./commands/tail.js')).tail,
}

const overview = async (): Promise<string> => {
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

const find = (name: string | undefined): Promise<Command | undefined> =>
  name !== undefined && Object.hasOwn(commands, name)
    ? (commands[name]?.() ?? Promise.resolve(undefined))
    : Promise.resolve(undefined)

const noCommand = (name: string): UsageError => {
  const meant = didYouMean(name, [...Object.keys(commands), 'help', 'version'])
  return new UsageError(`there is no command ${JSON.stringify(name)}${meant || '; `threatweave --help` lists them'}`)
}

const main = async (argv: readonly string[], io: Io): Promise<number> => {
  const [name, ...rest] = argv
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const topic = await find(rest[0])
    if (rest[0] !== undefined && !rest[0].startsWith('-') && !topic) throw noCommand(rest[0])
    io.stdout.write(topic ? topic.help : await overview())
    return name === undefined ? exitCodes.usage : exitCodes.ok
  }
  if (name === '--version' || name === '-V' || name === 'version') {
    io.stdout.write(`${version}\n`)
    return exitCodes.ok
  }
  const command = await find(name)
  if (!command) throw noCommand(name)
  const { positionals, values } = parseOptions(command, rest)
  if (values.help === true) {
    io.stdout.write(command.help)
    return exitCodes.ok
  }
  refuseUseless(command, values)
  const [extra] = positionals
  if (extra !== undefined && command.takesArguments !== true) throw new UsageError(refuseArgument(name, command, extra))
  unit = command.unit?.({ positionals, values }) ?? unit
  return command.run({ positionals, values }, io)
}

const refuseUseless = ({ uselessBeside = {} }: Command, values: Readonly<Record<string, unknown>>): void => {
  for (const [name, others] of Object.entries(uselessBeside))
    for (const other of others)
      if (values[name] !== undefined && values[other] !== undefined)
        throw new UsageError(`--${other} has no effect beside --${name}; leave one of them out`)
}

const refuseArgument = (name: string, { options }: Command, extra: string): string => {
  const isFile = 'config' in options && /\.ya?ml$/i.test(extra)
  return isFile
    ? `${name} takes no arguments; did you mean --config ${extra}?`
    : `${name} takes no arguments, and ${JSON.stringify(extra)} is one`
}

const parseOptions = (command: Command, args: string[]): ReturnType<typeof parseArgs> => {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
    })
  } catch (error) {
    // Node's first sentence is enough; the rest is about arguments that start with a dash.
    const sentence = error instanceof Error ? error.message.split(/\. To specify|\.?\n/)[0] : undefined
    const wrong = /^Unknown option '--([^']+)'/.exec(sentence ?? '')?.[1]
    const names = [...Object.keys(command.options), 'help'].map((name) => `--${name}`)
    const meant = wrong === undefined ? '' : didYouMean(`--${wrong}`, names)
    throw new UsageError(`${sentence ?? 'the options could not be read'}${meant || '; `--help` lists what there is'}`)
  }
}

const stdout = standardOutput(process.stdout)
const stderr = standardError(process.stderr)
/** What one line of output is, for error messages. */
let unit = 'line'

/** File names and settings may contain control characters, which must not reach a terminal. */
const say = (text: string): void => {
  stderr.write(`threatweave: ${text.split('\n').map(printable).join('\n')}\n`)
}

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stop.abort(signal)
    process.once(signal, () => process.exit(128 + constants.signals[signal])) // the second signal ends at once, without draining
  })
}

/** A closed pipe (`| head`) is a normal end; any other write error is not. */
let outputFailed: number | undefined
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (outputFailed !== undefined) return
  process.exitCode = outputFailed = error.code === 'EPIPE' ? exitCodes.ok : exitCodes.failure
  if (outputFailed !== exitCodes.ok) say(new OutputError('to standard output', error, { stream: stdout, unit }).message)
  // Let the command close and store what was paid for, but not for long.
  stop.abort(error.code)
  setTimeout(() => process.exit(), 5_000).unref()
})

const explain = async (error: unknown): Promise<number> => {
  await nextTurn() // the stream's error listener runs after the rejected write
  if (outputFailed !== undefined) return outputFailed
  if (error instanceof UsageError) {
    say(error.message)
    return exitCodes.usage
  }
  if (error instanceof ConfigurationError) {
    const count = error.problems.length
    const lines = error.message.replace(/^/gm, '  ')
    say(`${count === 1 ? 'a problem' : `${count} problems`} in the configuration:\n${lines}`)
    return exitCodes.configuration
  }
  if (error instanceof OutputError) say(error.message)
  else say(`unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  return exitCodes.failure
}

/** A hanging request must not keep a finished process alive; unwritten output may. */
const exitSoon = (): void => {
  setTimeout(() => {
    if (stdout.writableLength > 0 || stderr.writableLength > 0) exitSoon()
    else process.exit()
  }, 2_000).unref()
}

const io: Io = { env: process.env, stdin: process.stdin, stdout, stderr, signal: stop.signal }
void main(process.argv.slice(2), io)
  .catch(explain)
  .then((code) => {
    process.exitCode = outputFailed ?? code
    if (stdout !== process.stdout) stdout.end() // some disks report errors only now
    exitSoon()
  })
