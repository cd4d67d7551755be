#!/usr/bin/env node
// The command table: name → one function; nothing else.
import { parseArgs } from 'node:util'
import { api } from './commands/api.js'
import { check } from './commands/check.js'
import { demo } from './commands/demo.js'
import { estimate } from './commands/estimate.js'
import { exitCodes, UsageError, type Command, type Io } from './commands/command.js'
import { extract } from './commands/extract.js'
import { lookup } from './commands/lookup.js'
import { pipe } from './commands/pipe.js'
import { ConfigurationError } from './commands/load-config.js'
import { replay } from './commands/replay.js'
import { run } from './commands/run.js'
import { rules } from './commands/rules.js'
import { serve } from './commands/serve.js'

const commands: Readonly<Record<string, Command>> = {
  api,
  check,
  demo,
  estimate,
  extract,
  lookup,
  pipe,
  replay,
  run,
  rules,
  serve,
}

const overview = (): string => {
  const width = Math.max(...Object.keys(commands).map((name) => name.length), 0)
  const list = Object.entries(commands).map(([name, command]) => `  ${name.padEnd(width)}  ${command.summary}`)
  return `threatweave: weaves threat intelligence into a log stream

Usage: threatweave COMMAND [options]

Commands:
${list.join('\n')}

\`threatweave COMMAND --help\` explains one of them. Exit codes: 0 done, 1 failed, 64 wrong usage, 78 wrong configuration.
`
}

const main = async (argv: readonly string[], io: Io): Promise<number> => {
  const [name, ...rest] = argv
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const topic = rest[0] === undefined ? undefined : commands[rest[0]]
    io.stdout.write(topic ? topic.help : overview())
    return name === undefined ? exitCodes.usage : exitCodes.ok
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) throw new UsageError(`there is no command ${JSON.stringify(name)}; \`threatweave --help\` lists them`)
  const { positionals, values } = parseOptions(command, rest)
  if (values.help === true) {
    io.stdout.write(command.help)
    return exitCodes.ok
  }
  return command.run({ positionals, values }, io)
}

const parseOptions = (command: Command, args: string[]): ReturnType<typeof parseArgs> => {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'the options could not be read')
  }
}

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stop.abort(signal)
    process.once(signal, () => process.exit(130)) // asked twice: do not wait for the drain
  })
}
// A reader that went away (`| head`) is a normal end.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

/** A request that hangs for ever must not keep a process that has said its last word; a slow reader may. */
const leaveSoon = (): void => {
  setTimeout(() => {
    if (process.stdout.writableLength > 0) leaveSoon()
    else process.exit()
  }, 2_000).unref()
}

const io: Io = {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stop.signal,
}
main(process.argv.slice(2), io).then(
  (code) => {
    process.exitCode = code
    leaveSoon()
  },
  (error: unknown) => {
    if (error instanceof UsageError) {
      process.stderr.write(`threatweave: ${error.message}\n`)
      process.exitCode = exitCodes.usage
    } else if (error instanceof ConfigurationError) {
      const count = error.problems.length
      process.stderr.write(`threatweave: ${count === 1 ? 'a problem' : `${count} problems`} in the configuration:\n`)
      process.stderr.write(error.message.replace(/^/gm, '  ') + '\n')
      process.exitCode = exitCodes.configuration
    } else {
      process.stderr.write(
        `threatweave: unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
      )
      process.exitCode = exitCodes.failure
    }
  },
)
