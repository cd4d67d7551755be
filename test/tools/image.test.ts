// Checks the image with hadolint, and runs its build stages on a clean copy without an engine.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { provisionTools, run } from '../../scripts/tools.mjs'
import { load } from '../../src/config/load.js'

const root = resolve(import.meta.dirname, '../..')
const { paths, missing } = provisionTools()

type Instruction = { readonly name: string; readonly rest: string }
type Stage = { readonly name: string; readonly image: string; readonly instructions: readonly Instruction[] }

/** One entry for each FROM; continued lines are joined. */
const stagesOf = (text: string): Stage[] => {
  const stages: { name: string; image: string; instructions: Instruction[] }[] = []
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    const [name = '', ...words] = line.trim().split(/\s+/)
    if (name === '' || name.startsWith('#')) continue
    if (name === 'FROM') stages.push({ image: words[0] ?? '', name: words[2] ?? 'final', instructions: [] })
    else stages.at(-1)!.instructions.push({ name, rest: words.join(' ') })
  }
  return stages
}
const stages = stagesOf(readFileSync(join(root, 'Dockerfile'), 'utf8'))
const final = stages.at(-1)!
const ignored = readFileSync(join(root, '.dockerignore'), 'utf8')
const sent = ignored
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1))

const elsewhere = mkdtempSync(join(tmpdir(), 'threatweave-image-'))
afterAll(() => rmSync(elsewhere, { recursive: true, force: true }))

/** Does what a stage says: copies into its folder, runs its npm commands there. */
const exercise = ({ name, instructions }: Stage): void => {
  const folder = join(elsewhere, name)
  for (const { name: what, rest } of instructions) {
    if (what === 'COPY') {
      const words = rest.split(' ')
      const from = /^--from=(\w+) /.exec(rest)?.[1]
      const sources = words.filter((word) => !word.startsWith('--'))
      const target = sources.pop()!
      for (const source of sources) {
        if (from === undefined) expect(sent).toContain(source)
        const origin = from === undefined ? join(root, source) : join(elsewhere, from, source.replace('/build/', ''))
        const place = target === './' ? join(folder, source) : join(folder, target)
        mkdirSync(dirname(place), { recursive: true })
        cpSync(origin, place, { recursive: true })
      }
    }
    if (rest === 'npm ci --ignore-scripts') {
      // All dependencies from the same lock file: the repository's own were installed like this before any test could run.
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    } else if (what === 'RUN' && rest.startsWith('npm ')) {
      const [command = '', ...args] = rest.split(' ')
      const { ok, output } = run(command, [...args, '--prefer-offline', '--no-audit'], { cwd: folder })
      expect(ok, output).toBe(true)
    }
  }
}

describe('the image', { timeout: 900_000 }, () => {
  it('stands on one pinned, slim Node 24 in every stage', () => {
    expect(new Set(stages.map(({ image }) => image)).size).toBe(1)
    expect(final.image).toMatch(/^node:24\.\d+\.\d+-[a-z]+-slim$/)
  })

  it('runs without root, in exec form, and says how it is', () => {
    const of = (name: string): string[] => final.instructions.filter((one) => one.name === name).map(({ rest }) => rest)
    expect(of('USER')).toEqual(['1000:1000'])
    expect(of('ENTRYPOINT')).toEqual(['["node", "--max-semi-space-size=64", "dist/cli.js"]'])
    expect(of('CMD')).toEqual(['["run"]'])
    expect(of('HEALTHCHECK')[0]).toContain('/healthz')
    expect(of('LABEL')[0]).toContain('org.opencontainers.image.licenses="Apache-2.0"')
  })

  it('sends the engine nothing but what the stages copy', () => {
    const copied = stages
      .flatMap(({ instructions }) => instructions)
      .filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from'))
      .flatMap(({ rest }) => rest.split(' ').slice(0, -1))
    expect(new Set(sent)).toEqual(new Set(copied))
    expect(ignored).toContain('\n*\n')
  })

  it('works when its stages are carried out on a clean copy', () => {
    for (const stage of stages) exercise(stage)
    const folder = join(elsewhere, 'final')
    expect(existsSync(join(folder, 'node_modules/fastify'))).toBe(true)
    expect(existsSync(join(folder, 'node_modules/vitest'))).toBe(false)
    const env = { PATH: process.env.PATH }
    const help = run('node', ['dist/cli.js', '--help'], { cwd: folder, env })
    expect(help.output).toContain('Usage: threatweave')
    const fed = run('node', ['dist/cli.js', 'pipe', '--feed', 'examples/feeds/sample-feed.csv'], {
      cwd: folder,
      env: { ...env, THREATWEAVE_MEMORY_PATH: 'none', THREATWEAVE_GATE_DOCUMENTATION: 'true' },
      input: '{"src_ip":"10.0.0.1"}\n',
    })
    expect(fed.stdout).toContain('"status":"skipped"')
  })
})

if (paths === undefined)
  it('is not linted for want of hadolint, which is a failure in CI', () => {
    process.stderr.write(`${missing ?? ''}\n`)
    expect(process.env.CI ?? '').toBe('')
  })

it.runIf(paths !== undefined)('passes hadolint', () => {
  const { ok, output } = run(paths!.hadolint, [join(root, 'Dockerfile')])
  expect(ok, output).toBe(true)
})

describe('compose.yaml', () => {
  type Service = {
    readonly image: string
    readonly environment?: Readonly<Record<string, string>>
    readonly read_only?: boolean
  }
  const { services } = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true }) as {
    services: Readonly<Record<string, Service>>
  }
  it('gives every one of our containers a configuration that the program accepts, and a read-only root', () => {
    const ours = Object.values(services).filter(({ image }) => image === 'threatweave:demo')
    expect(ours).toHaveLength(3)
    for (const { environment = {}, read_only } of ours) {
      expect(load({ env: environment, readFile: () => '' })).not.toHaveProperty('problems')
      expect(read_only).toBe(true)
    }
  })
})
