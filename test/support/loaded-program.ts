// Runs command lines in one process that has loaded the built program: a start of its own costs each a second of processor time. For what a
// command prints and does; signals, pipes and the end of a process need a start (cli.ts).
import { fork, type ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { root, type Ran } from './cli.js'

type Answer = Ran & { readonly id: number }

let loaded: ChildProcess | undefined
let lines = 0

const load = (): ChildProcess => {
  if (loaded?.connected) return loaded
  // Vitest's variables would change what kafkajs does.
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env
  // Node reads the authorities that it trusts once.
  const env = { PATH, HOME, TMPDIR, NODE_EXTRA_CA_CERTS: resolve(root, 'test/fixtures/tls/ca.pem') }
  loaded = fork(resolve(import.meta.dirname, 'loaded-program.mjs'), { cwd: root, env, execArgv: [] })
  loaded.setMaxListeners(0)
  // It goes when who asked is gone.
  loaded.unref()
  loaded.channel?.unref()
  return loaded
}

export const runLoaded = (
  args: readonly string[],
  { env = {} }: { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ran> =>
  new Promise((done, fail) => {
    const program = load()
    const id = lines++
    const settle = (): void => {
      program.off('message', hear).off('exit', lose)
    }
    const hear = ({ id: of, ...ran }: Answer): void => {
      if (of !== id) return
      settle()
      done(ran)
    }
    const lose = (): void => {
      settle()
      fail(new Error(`the program ended while it ran ${args.join(' ')}`))
    }
    program.on('message', hear).on('exit', lose)
    const given = {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      THREATWEAVE_MEMORY_PATH: 'none',
      ...env,
    }
    program.send({ id, args, env: given }, (error) => {
      if (error) lose()
    })
  })
