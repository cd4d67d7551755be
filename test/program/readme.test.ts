// Runs the README's commands.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root, runCli } from '../support/cli.js'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')

describe('the README', () => {
  it('names two commands for the set-up, and the build runs the second one', () => {
    expect(blocks[0]).toMatch(/^npm ci && npm run demo\b/)
    expect(blocks[1]).toMatch(/^npm ci && npm test\b/)
    expect(readFileSync(join(root, '.ci/run'), 'utf8')).toContain('npm ci && npm test\n')
  })

  it('has commands for your own logs that run as they stand', () => {
    const block = blocks.find((text) => text.includes('cli.js extract')) ?? ''
    const out = mkdtempSync(join(tmpdir(), 'threatweave-readme-'))
    const script = block.replaceAll('> annotated.ndjson', `> ${join(out, 'annotated.ndjson')}`)
    const printed = execFileSync('sh', ['-ec', script], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: out },
    })
    expect(printed).toContain('"decision":"skip"')
    expect(printed).toContain('lookups per month')
    expect(readFileSync(join(out, 'annotated.ndjson'), 'utf8')).toContain('"malicious":true')
  })

  it('shows the annotation as it is', async () => {
    const line = /```\n(date=.*)\n```/.exec(readme)?.[1] ?? ''
    const shown = /"summary": "([^"]+)"/.exec(readme)?.[1]
    const feed = join(root, 'examples/feeds/sample-feed.csv')
    const { stdout } = await runCli(['pipe', '--feed', feed], {
      input: line,
      env: { THREATWEAVE_GATE_DOCUMENTATION: 'true' },
    })
    const { threatweave } = JSON.parse(stdout) as { threatweave: Record<string, unknown> }
    expect(threatweave).toMatchObject({
      status: 'complete',
      verdict: 'malicious',
      score: 90,
      field: 'srcip',
      direction: 'inbound',
      action: 'allowed',
      summary: shown,
    })
  })

  it('says how the command is called', () => {
    const command = /In this folder `(npx threatweave)`/.exec(readme)?.[1] ?? 'false'
    // Without scripts: npx would build the package anew, under the feet of the other tests.
    const env = { ...process.env, npm_config_ignore_scripts: 'true' }
    const printed = execFileSync('sh', ['-ec', `${command} --version`], { cwd: root, encoding: 'utf8', env })
    expect(printed).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it('lists the commands there are', async () => {
    const { stdout } = await runCli(['--help'])
    const listed = [...stdout.matchAll(/^ {2}([a-z]+) {2}/gm)].map((match) => match[1] ?? '')
    expect(listed.length).toBeGreaterThan(8)
    expect(listed.filter((name) => !readme.includes(`\`${name}\``))).toEqual([])
  })

  it('has no dead links', () => {
    const targets = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1] ?? '')
    expect(targets.filter((target) => !existsSync(join(root, target)))).toEqual([])
  })
})
