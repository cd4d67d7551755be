// Finds a tool that only tests need. A missing tool fails in CI; elsewhere the test is skipped.
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'

export type Tool = { readonly path: string } | { readonly missing: string }

export const findTool = (name: 'promtool' | 'alertmanager' | 'chromium' | 'rsyslogd' | 'zsh' | 'fish'): Tool => {
  const script = resolve(import.meta.dirname, '../../scripts/fetch-tools.sh')
  const { status, stdout, stderr } = spawnSync(script, [name], { encoding: 'utf8', timeout: 900_000 })
  const path = stdout.trim().split('\n').at(-1) ?? ''
  if (status === 0 && path !== '') return { path }
  const why = `${name} could not be fetched: ${stderr.trim().split('\n').at(-1) ?? ''}`
  if (process.env.CI) throw new Error(why)
  return { missing: why }
}
