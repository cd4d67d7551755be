// The expected completions of typed command lines in every shell, and how tests request them.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { runCommand } from './run-command.js'

const folder = mkdtempSync(join(tmpdir(), 'completion-'))
writeFileSync(join(folder, 'firewall.log'), '')
mkdirSync(join(folder, 'feeds'))

export const inShell = (shell: string, args: readonly string[]): readonly string[] => {
  const { stdout, stderr, status } = spawnSync(shell, args, { encoding: 'utf8', cwd: folder, timeout: 600_000 })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  return stdout.split('\n').filter((line) => line !== '')
}
export const scriptFor = async (shell: string): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(['completion', shell])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const path = join(folder, `_threatweave.${shell}`)
  writeFileSync(path, stdout)
  return path
}

/** A typed line whose last word is completed, and the offered completions. */
export const completionCases: readonly (readonly [typed: string, offers: readonly string[]])[] = [
  ['xx', []],
  ['lo', ['lookup']],
  ['help ta', ['tail']],
  ['lookup --r', ['--role']],
  ['lookup --role des', ['destination']],
  ['lookup ', ['domain', 'ip']],
  ['lookup --role source dom', ['domain']],
  ['rules ', ['check', 'test']],
  ['tail --verdict malicious,sus', ['malicious,suspicious']],
  ['tail --value ', []],
  ['completion ', ['bash', 'fish', 'zsh']],
  ['api exploit', ['exploit/search']],
  ['run --config fire', ['firewall.log']],
  ['extract fire', ['firewall.log']],
  ['rules check fire', ['firewall.log']],
  ['run fire', []],
]
