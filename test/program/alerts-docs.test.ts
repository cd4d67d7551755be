// Follows docs/alerts.md: its rules, commands, output, alert and names are those of the program.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readerNames } from '../../src/alerts/event-field.js'
import { load } from '../../src/config/load.js'
import { root } from '../support/cli.js'

const page = readFileSync(join(root, 'docs/alerts.md'), 'utf8')
const blocks = [...page.matchAll(/```(\w*)\n([\s\S]*?)```/g)].map(([, kind = '', text = '']) => ({ kind, text }))
const rules = blocks.filter(({ kind, text }) => kind === 'yaml' && text.startsWith('title:'))
const commands = blocks.flatMap(({ kind, text }, at) =>
  kind === 'sh' ? [{ text, output: blocks[at + 1]?.kind === '' ? (blocks[at + 1]?.text ?? '') : '' }] : [],
)

describe('docs/alerts.md', () => {
  let folder = ''
  const printed: string[] = []

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'threatweave-alerts-docs-'))
    mkdirSync(join(folder, 'my-rules'))
    mkdirSync(join(folder, 'bin'))
    symlinkSync(join(root, 'examples'), join(folder, 'examples'))
    writeFileSync(join(folder, 'bin/threatweave'), `#!/bin/sh\nexec node ${join(root, 'dist/cli.js')} "$@"\n`, {
      mode: 0o755,
    })
    const add = (from: number, to: number): void => {
      rules.slice(from, to).forEach(({ text }, n) => {
        const name = from + n === 0 ? 'inside-range' : `rule-${from + n}`
        writeFileSync(join(folder, `my-rules/${name}.yml`), text)
      })
    }
    add(0, 1)
    let exports = ''
    for (const { text } of commands) {
      // The other rules follow before they are tested.
      if (text.includes('annotated.ndjson my-rules\n')) add(1, rules.length)
      const { stdout, stderr, status } = spawnSync('sh', ['-ec', exports + text], {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH ?? ''}`, HOME: folder },
      })
      expect(status, stderr).toBe(0)
      exports += (text.match(/^export \S+/gm) ?? []).map((line) => `${line}\n`).join('')
      printed.push(stdout + stderr)
    }
  })
  afterAll(() => {
    rmSync(folder, { recursive: true })
  })

  it('has six rules and shows the output of its commands as it is', () => {
    expect(rules).toHaveLength(6)
    const shown = commands.flatMap(({ output }, at) =>
      output
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => [at, line] as const),
    )
    expect(shown.length).toBeGreaterThan(6)
    for (const [at, line] of shown) expect(printed[at]?.split('\n')).toContain(line)
  })

  it.each(rules.map(({ text }) => (parse(text) as { title: string }).title))('has a rule that fires: %s', (title) => {
    expect(printed.join('')).toContain(`  ${title}  because `)
  })

  it('shows the alert as it is', () => {
    const at = commands.findIndex(({ text }) => text.includes('--alerts -'))
    const alerts = (printed[at] ?? '').split('\n').filter((line) => line.startsWith('{"@timestamp"'))
    expect(alerts).toHaveLength(1)
    const shown = blocks.find(({ kind }) => kind === 'json')?.text ?? ''
    expect(JSON.parse(alerts[0] ?? '')).toMatchObject(JSON.parse(shown) as object)
  })

  it('dismisses a false positive so that no alert is left', () => {
    expect(commands.at(-1)?.text).toContain('THREATWEAVE_GATE_ALLOW')
    expect(printed.at(-1)).toContain('"event":"rules_loaded"')
    expect(printed.at(-1)).not.toContain('{"@timestamp"')
  })

  it('has a configuration that is accepted', () => {
    const text = blocks.find(({ kind, text: one }) => kind === 'yaml' && one.startsWith('alerts:'))?.text ?? ''
    expect(load({ values: parse(text) as Record<string, unknown>, env: {}, readFile: () => '' })).not.toHaveProperty(
      'problems',
    )
  })

  it('names every field that the reader gives to rules, and no other', () => {
    const section = page.slice(page.indexOf('| ECS |'), page.indexOf('**Its own fields**'))
    const named = [...section.matchAll(/`([\w.-]+)`/g)].map(([, name = '']) => name)
    const values = ['allowed', 'blocked', 'inbound', 'outbound', 'internal', 'external']
    expect(named.filter((name) => !readerNames.includes(name) && !values.includes(name))).toEqual([])
    const missing = readerNames.filter((name) => !named.includes(name))
    expect(missing).toEqual(['message'])
  })
})
