// The workflows pass actionlint and zizmor, and do nothing that cannot be done by hand.
import { readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { provisionWorkflowLinters, run } from '../../scripts/tools.mjs'

const folder = resolve(import.meta.dirname, '../../.github/workflows')
const files = readdirSync(folder).map((name) => join(folder, name))
const { zizmor, actionlint, missing } = provisionWorkflowLinters()

it.runIf(missing === undefined).each([
  ['actionlint', [actionlint!, ...files]],
  ['zizmor', [zizmor!, '--offline', ...files]],
])('the workflows pass %s', (_, [command = '', ...args]) => {
  const { ok, output } = run(command, args)
  expect(ok, output).toBe(true)
})

if (missing !== undefined)
  it('are not linted for want of a linter, which is a failure in CI', () => {
    process.stderr.write(`${missing}\n`)
    expect(process.env.CI ?? '').toBe('')
  })

describe.each(files)('%s', (file) => {
  type Step = { readonly uses?: string; readonly run?: string }
  const { permissions, jobs } = parse(readFileSync(file, 'utf8')) as {
    permissions: object
    jobs: Readonly<Record<string, { readonly permissions: object; readonly steps: readonly Step[] }>>
  }
  const steps = Object.values(jobs).flatMap((job) => job.steps)

  it('pins every action by commit and gives each job only what it names', () => {
    expect(permissions).toEqual({})
    for (const job of Object.values(jobs)) expect(job.permissions).not.toEqual({})
    const actions = steps.flatMap(({ uses }) => uses ?? [])
    expect(actions.filter((name) => !/@[0-9a-f]{40}$/.test(name))).toEqual([])
  })

  it('runs one command in a step: npm or a script of this repository', () => {
    const commands = steps.flatMap(({ run: command }) => command ?? [])
    expect(
      commands.filter((command) => !/^(npm (ci|test|run) ?|node scripts\/|scripts\/)[^\n;&|]*$/.test(command)),
    ).toEqual([])
  })
})
