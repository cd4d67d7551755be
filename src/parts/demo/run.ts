// Runs a program until it exits and returns the end of its output.
import { spawn } from 'node:child_process'

export const run = (
  command: string,
  args: readonly string[],
  { cwd, heard }: { readonly cwd?: string; readonly heard?: (output: string) => void } = {},
): Promise<{ readonly code: number; readonly output: string }> =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const keep = (data: Buffer): void => {
      const text = data.toString()
      heard?.(text)
      output = (output + text).slice(-8_192)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('error', (error) => {
      resolve({ code: -1, output: error.message })
    })
    child.once('close', (code) => {
      resolve({ code: code ?? -1, output })
    })
  })

export const answers = async (command: string, args: readonly string[]): Promise<boolean> =>
  (await run(command, args)).code === 0
