// A disk that fills up: no command exits with 0 if output is missing, and it says how much was written.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliPath, root } from '../../support/cli.js'

const folder = mkdtempSync(join(tmpdir(), 'threatweave-full-'))
const log = join(folder, 'firewall.log')
const feed = join(root, 'examples/feeds/sample-feed.csv')
const values = join(folder, 'values.txt')
const annotated = join(folder, 'annotated.ndjson')
writeFileSync(log, readFileSync(join(root, 'examples/logs/firewall.log'), 'utf8').repeat(60))
writeFileSync(values, Array.from({ length: 10_000 }, (_, n) => `198.51.${n >> 8}.${n & 255}\n`).join(''))
writeFileSync(
  annotated,
  '{"threatweave":{"verdict":"malicious","threat_class":"serious","role":"source","direction":"inbound","action":"allowed"}}\n'.repeat(
    8000,
  ),
)

const env = {
  PATH: process.env.PATH ?? '',
  THREATWEAVE_GATE_DOCUMENTATION: 'true',
  THREATWEAVE_MEMORY_PATH: 'none',
  THREATWEAVE_FEEDS: JSON.stringify([{ name: 'sample', path: feed }]),
}

type Case = {
  readonly name: string
  readonly unit: string
  readonly args: readonly string[]
  readonly input?: string
}
const cases: readonly Case[] = [
  { name: 'pipe', unit: 'event', args: ['pipe', '--summary', log] },
  { name: 'extract', unit: 'event', args: ['extract', log] },
  { name: 'lookup', unit: 'line', args: ['lookup', 'ip'], input: values },
  { name: 'estimate --list', unit: 'line', args: ['estimate', '--list', values] },
  { name: 'rules test', unit: 'line', args: ['rules', 'test', '--json', '-e', annotated] },
]

const command = (args: readonly string[]): string[] => [process.execPath, cliPath, ...args]

/** A file that may not grow past `limit` takes a part of a write and refuses the next, as a full disk does; it needs no rights. */
const limited = `ulimit -f "$BLOCKS"; exec "$@"`

const run = (
  script: string,
  out: string,
  { args, input }: Case,
  blocks: number,
): { code: number | null; err: string } => {
  const { status, stderr } = spawnSync('sh', ['-c', `${script} > "$OUT"`, 'sh', ...command(args)], {
    env: { ...env, OUT: out, BLOCKS: String(blocks) },
    input: input === undefined ? '' : readFileSync(input),
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  return { code: status, err: stderr }
}

const expectToldCut = (out: string, { code, err }: { code: number | null; err: string }, unit: string): void => {
  const whole = readFileSync(out).toString('latin1').split('\n').length - 1
  expect(err).toContain(`; ${whole} complete ${whole === 1 ? unit : `${unit}s`} written before\n`)
  expect(err).toContain('threatweave: cannot write to standard output: ')
  expect(err).not.toContain('events:')
  expect(code).toBe(1)
}

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(cases)('$name into a file that cannot grow', (one) => {
  it('ends with 1 and the number of what is complete', () => {
    const out = join(folder, 'out')
    const ran = run(limited, out, one, 128)
    expect(statSync(out).size).toBeGreaterThan(0)
    expectToldCut(out, ran, one.unit)
  })
})

describe('the alerts of pipe into a file that cannot grow', () => {
  it('ends with 1 and the number of alerts that are complete', () => {
    const out = join(folder, 'alerts')
    const { status, stderr } = spawnSync('sh', ['-c', limited, 'sh', ...command(['pipe', '--alerts', out, log])], {
      env: { ...env, BLOCKS: '24' },
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    })
    const whole = readFileSync(out, 'latin1').split('\n').length - 1
    expect(stderr).toContain(
      `threatweave: cannot write the alerts to ${out}: EFBIG: file too large, write; ${whole} complete alerts written before\n`,
    )
    expect(status).toBe(1)
  })
})

const mount = join(folder, 'mount')
mkdirSync(mount)
const canMount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', mount]).status === 0
if (canMount) spawnSync('umount', [mount])

describe.runIf(canMount)('a small tmpfs, where one may be mounted', () => {
  beforeAll(() => void spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', mount]))
  afterAll(() => void spawnSync('umount', [mount]))
  it.each(cases.slice(0, 1))('$name ends with 1 and the number of what is complete', (one) => {
    const out = join(mount, 'out')
    expectToldCut(out, run('exec "$@"', out, one, 0), one.unit)
    rmSync(out)
  })
})

describe('a reader that goes away', () => {
  it.each(cases.slice(0, 2))('is an ordinary, quiet end of $name', ({ args }) => {
    const { stdout, stderr } = spawnSync(
      'sh',
      ['-c', `{ "$@"; echo "code $?" >&2; } | head -n 1`, 'sh', ...command(args)],
      { env, encoding: 'utf8' },
    )
    expect(stdout.split('\n')).toHaveLength(2)
    expect(stderr).toBe('code 0\n')
  })
})
