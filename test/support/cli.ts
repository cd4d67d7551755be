// Runs the built command line and collects its output.
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')
/** A feed for commands that need some source of verdicts. */
export const someFeed = resolve(root, 'examples/feeds/sample-names.txt')
export const cliPath = resolve(root, 'dist/cli.js')

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

export const runCli = (
  args: readonly string[],
  { input = '', env = {}, cwd = root }: { input?: string | Buffer; env?: Record<string, string>; cwd?: string } = {},
): Promise<Ran> =>
  new Promise((done, fail) => {
    const child = spawn(process.execPath, [cliPath, ...args], {
      cwd,
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', THREATWEAVE_MEMORY_PATH: 'none', ...env },
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.on('error', fail)
    child.on('close', (code) =>
      done({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    )
    child.stdin.on('error', () => undefined) // the command may stop reading early
    child.stdin.end(input)
  })
