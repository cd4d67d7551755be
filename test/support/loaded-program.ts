// Runs command lines in one process that has loaded the built program: a start of its own costs each a second or two of processor time. For
// what a command prints and does; signals, pipes and the end of a process need a start (cli.ts, spawn-run.ts).
import { fork, type ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { root, type Ran } from './cli.js'

/** What a command line has printed, or its exit code. */
type Heard = { readonly id: number; readonly stdout?: Buffer; readonly stderr?: Buffer; readonly code?: number }

type Line = {
  readonly stdout: Readable
  readonly stderr: Readable
  readonly code: Promise<number>
  /** As a signal does it. */
  readonly stop: () => void
}

let loaded: ChildProcess | undefined
let lines = 0

const load = (): ChildProcess => {
  if (loaded?.connected) return loaded
  // Vitest's variables would change what kafkajs does.
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env
  // Node reads the authorities that it trusts once.
  const env = { PATH, HOME, TMPDIR, NODE_EXTRA_CA_CERTS: resolve(root, 'test/fixtures/tls/ca.pem') }
  const program = resolve(import.meta.dirname, 'loaded-program.mjs')
  loaded = fork(program, { cwd: root, env, execArgv: [], serialization: 'advanced' })
  loaded.setMaxListeners(0)
  // It goes when who asked is gone.
  loaded.unref()
  loaded.channel?.unref()
  return loaded
}

/** Those that are started together run side by side. */
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
