// Runs the commands of the README and of the page of commands.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Alert } from '../../src/alerts/alert.js'
import { renderAlert } from '../../src/alerts/render-alert.js'
import { root, runCli } from '../support/cli.js'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const commands = readFileSync(join(root, 'docs/commands.md'), 'utf8')
const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')

describe('the README', () => {
  it('fits on two screens', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(90)
  })

  it('names two commands for the set-up, and the build runs the second one', () => {
    const [demo, test] = (blocks.find((text) => text.includes('npm run demo')) ?? '').split('\n')
    expect(demo).toMatch(/^npm ci && npm run demo\b/)
    expect(test).toMatch(/^npm ci && npm test\b/)
    expect(readFileSync(join(root, '.ci/run'), 'utf8')).toContain('npm ci && npm test && npm run test:matrix\n')
  })

  it('shows the alert that its first command prints about a log of your own', () => {
    const [install, ...lines] = (blocks.find((text) => text.includes('your.log')) ?? '').split('\n')
    expect(install).toMatch(/^npm ci /)
    const folder = mkdtempSync(join(tmpdir(), 'threatweave-readme-'))
    const shown = /```\n(\d{4}-\d\d-\d\d [^`]+)```/.exec(readme)?.[1] ?? ''
    writeFileSync(join(folder, 'your.log'), `${shown.trimEnd().split('\n').at(-1)?.trim() ?? ''}\n`)
    const script = lines.join('\n').replaceAll('node dist/cli.js', `node ${join(root, 'dist/cli.js')}`)
    const env = { PATH: process.env.PATH, HOME: folder }
    const printed = execFileSync('sh', ['-ec', script], { cwd: folder, encoding: 'utf8', env })
    expect(printed.trimEnd().split('\n')).toHaveLength(1)
    expect(renderAlert(JSON.parse(printed) as Alert).trimEnd()).toBe(shown.trimEnd())
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

  it('names the command that writes a configuration which is fine', () => {
    const init = /`(node dist\/cli\.js init)`/.exec(readme)?.[1] ?? 'false'
    const folder = mkdtempSync(join(tmpdir(), 'threatweave-readme-'))
    const list = 'https://lists.example.net/list.txt'
    const answers = `--brokers kafka.example.net:9092 --topic firewall --key-file none --list ${list} --feeds none --for compose`
    const script = `${init} ${answers} --dir ${folder}\nnode dist/cli.js check --config ${folder}/threatweave.yaml`
    const env = { PATH: process.env.PATH, HOME: folder }
    expect(execFileSync('sh', ['-ec', script], { cwd: root, encoding: 'utf8', env })).toContain(
      'The configuration is fine.',
    )
  })

  it('says whose key to paste, and what works without one', () => {
    const before = readme.slice(0, readme.indexOf('paste-your-key-here'))
    expect(before).toMatch(/Use the key of your \[Criminal IP\]/)
    expect(before).toMatch(/Without a key everything runs on \[feeds\]/)
  })
})

describe('docs/commands.md', () => {
  it('has commands for your own logs that run as they stand', () => {
    const block = /```sh\n([\s\S]*?)```/.exec(commands)?.[1] ?? ''
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

  it('says how the command is called', () => {
    const command = /In a clone of this repository `([^`]+)`/.exec(commands)?.[1] ?? 'false'
    const alias = /`(alias threatweave=[^`]+)`/.exec(commands)?.[1] ?? 'false'
    // npx builds the package anew, silently, and leaves it broken when it is interrupted.
    for (const page of ['README.md', 'docs/alerts.md', 'docs/commands.md'])
      expect(readFileSync(join(root, page), 'utf8')).not.toContain('npx threatweave')
    const script = `${command} --version; ${alias}\nthreatweave --version`
    const printed = execFileSync('sh', ['-ec', script], { cwd: root, encoding: 'utf8' })
    expect(printed).toMatch(/^(\d+\.\d+\.\d+\n)\1$/)
  })

  it('lists the commands there are', async () => {
    const { stdout } = await runCli(['--help'])
    const listed = [...stdout.matchAll(/^ {2}([a-z]+) {2}/gm)].map((match) => match[1] ?? '')
    expect(listed.length).toBeGreaterThan(8)
    expect(listed.filter((name) => !commands.includes(`\`${name}\``))).toEqual([])
  })
})
