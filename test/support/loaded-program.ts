// Runs command lines in one process with the built program loaded, which saves a second or two of CPU time per start.
// Tests of signals, pipes and process exits need a real start (cli.ts, spawn-run.ts).
import { fork, type ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { root, type Ran } from './cli.js'

/** Output of a command line, or its exit code. */
type Heard = { readonly id: number; readonly stdout?: Buffer; readonly stderr?: Buffer; readonly code?: number }

type Line = {
  readonly stdout: Readable
  readonly stderr: Readable
  readonly code: Promise<number>
  /** Has the same effect as a signal. */
  readonly stop: () => void
}

let loaded: ChildProcess | undefined
let lines = 0

const load = (): ChildProcess => {
  if (loaded?.connected) return loaded
  // Vitest's environment variables would change how kafkajs behaves.
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env
  // Node reads additional certificate authorities only at its start.
  const env = { PATH, HOME, TMPDIR, NODE_EXTRA_CA_CERTS: resolve(root, 'test/fixtures/tls/ca.pem') }
  const program = resolve(import.meta.dirname, 'loaded-program.mjs')
  loaded = fork(program, { cwd: root, env, execArgv: [], serialization: 'advanced' })
  loaded.setMaxListeners(0)
  // The program exits with this process.
  loaded.unref()
  loaded.channel?.unref()
  return loaded
}

/** Concurrent command lines run side by side. */
export const startLoaded = (args: readonly string[], env: Readonly<Record<string, string>>): Line => {
  const program = load()
  const id = lines++
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const code = new Promise<number>((done, fail) => {
    const settle = (): void => {
      program.off('message', hear).off('exit', lose)
      stdout.end()
      stderr.end()
    }
    const hear = (heard: Heard): void => {
      if (heard.id !== id) return
      if (heard.stdout) stdout.write(heard.stdout)
      if (heard.stderr) stderr.write(heard.stderr)
      if (heard.code === undefined) return
      settle()
      done(heard.code)
    }
    const lose = (): void => {
      settle()
      fail(new Error(`the program ended while it ran ${args.join(' ')}`))
    }
    program.on('message', hear).on('exit', lose)
    program.send({ id, args, env }, (error) => {
      if (error) lose()
    })
  })
  return { stdout, stderr, code, stop: () => program.send({ id, stop: 'SIGTERM' }) }
}

export const runLoaded = async (
  args: readonly string[],
  { env = {} }: { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ran> => {
  const { PATH = '', HOME = '' } = process.env
  const line = startLoaded(args, { PATH, HOME, THREATWEAVE_MEMORY_PATH: 'none', ...env })
  const [stdout, stderr, code] = await Promise.all([buffer(line.stdout), buffer(line.stderr), line.code])
  return { code, stdout: stdout.toString(), stderr: stderr.toString() }
}
