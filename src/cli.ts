#!/usr/bin/env node
// The program as a process: streams, signals and the exit code.
import { accessSync, constants as fileAccess } from 'node:fs'
import * as nodeModule from 'node:module'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { packageFolder } from './base/package-folder.js'
import { commands } from './commands/commands.js'
import { workerVariable } from './config/environment-name.js'
import { exitCodes, OutputError, type Io } from './terminal/command.js'
import { standardError, standardOutput } from './terminal/file-output.js'
import { parseCommand } from './commands/parse-command.js'
import { reportFailure } from './commands/report-failure.js'

/**
 * Caches compiled code, which saves a third of a short command's time. The cache is next to the program if the user can write there,
 * otherwise in the user's cache folder. Node's default is a temporary folder, where another user could plant code.
 */
const compiledFolder = (): string | undefined => {
  const { XDG_CACHE_HOME, HOME } = process.env
  const caches = XDG_CACHE_HOME ?? (HOME === undefined ? undefined : join(HOME, '.cache'))
  try {
    accessSync(packageFolder, fileAccess.W_OK)
    return join(packageFolder, '.compiled')
  } catch {
    return caches === undefined ? undefined : join(caches, 'threatweave', 'compiled')
  }
}
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (folder: string) => unknown } // since Node 22
const compiled = compiledFolder()
if (compiled !== undefined) enableCompileCache?.(compiled)

const stdout = standardOutput(process.stdout)
const stderr = standardError(process.stderr)
/** The unit of output, for error messages. */
let unit = 'line'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stop.abort(signal)
    process.once(signal, () => process.exit(128 + constants.signals[signal])) // the second signal ends at once, without draining
  })
}

/** A worker of `run --workers` has lost its parent process, which runs the gateway and restarts workers. */
let isOrphan = false
/** Resolves when a worker gets its settings, which is after the gateway has opened; undefined if it is stopped before. */
let settings: Promise<Io['env'] | undefined> = Promise.resolve({})
const workerLimitMs = process.env[workerVariable]
if (process.send && workerLimitMs !== undefined) {
  settings = new Promise((resolve) => {
    process.once('message', (given: Io['env']) => {
      process.channel?.unref()
      resolve(given)
    })
    stop.signal.addEventListener('abort', () => resolve(undefined))
  })
  const lostParent = (): void => {
    isOrphan = true
    stop.abort('the process that started this worker is gone')
    setTimeout(() => process.exit(exitCodes.failure), Number(workerLimitMs)).unref()
  }
  // The channel closes however the parent ends, perhaps while this program was loading.
  if (process.connected) process.once('disconnect', lostParent)
  else lostParent()
}

/** A closed pipe (`| head`) is a normal end; any other write error is not. */
let outputFailed: number | undefined
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (outputFailed !== undefined) return
  process.exitCode = outputFailed = error.code === 'EPIPE' ? exitCodes.ok : exitCodes.failure
  if (outputFailed !== exitCodes.ok)
    reportFailure(new OutputError('to standard output', error, { stream: stdout, unit }), stderr)
  // Lets the command close and store paid answers, within a time limit.
  stop.abort(error.code)
  setTimeout(() => process.exit(), 5_000).unref()
})

/** A hanging request must not keep a finished process alive; unwritten output may. */
const exitSoon = (): void => {
  setTimeout(() => {
    if (stdout.writableLength > 0 || stderr.writableLength > 0) exitSoon()
    else process.exit()
  }, 2_000).unref()
}

const io: Omit<Io, 'env'> = { stdin: process.stdin, stdout, stderr, signal: stop.signal }
void parseCommand(commands, process.argv.slice(2))
  .then(async (command) => {
    unit = command.unit
    const given = await settings
    return given ? command.run({ ...io, env: { ...process.env, ...given } }) : exitCodes.ok
  })
  .catch(async (error: unknown) => {
    await nextTurn() // the stream's error listener runs after the rejected write
    return outputFailed ?? reportFailure(error, stderr)
  })
  .then((code) => {
    process.exitCode = outputFailed ?? (isOrphan && code === exitCodes.ok ? exitCodes.failure : code)
    if (stdout !== process.stdout) stdout.end() // some disks report errors only now
    exitSoon()
  })
