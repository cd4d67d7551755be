// Checks the Dockerfile with hadolint, builds the image and runs the program in it. Without Docker the image comes from the files of a release.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { provisionTools, run } from '../../scripts/tools.mjs'
import { loadAny } from '../../src/app/load-config.js'

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

/** Docker's engine, else buildah with a stand-in for the base image, which tests on machines without an image registry need. */
const hasDocker = run('docker', ['version']).ok
const out = mkdtempSync(join(tmpdir(), 'threatweave-release-image-'))
const must = (command: string, ...args: string[]): string => {
  const repository = { GITHUB_REPOSITORY: 'Example/Threatweave' }
  const { ok, stdout, output } = run(command, args, { cwd: root, env: { ...process.env, ...repository } })
  if (!ok) throw new Error(output.slice(-2_000))
  return stdout.trim()
}
const build = (): string => {
  if (hasDocker) return must('bash', 'scripts/build-image.sh', 'threatweave:test').split('\n').at(-1)!
  must('bash', 'scripts/fetch-tools.sh', 'buildah', 'debootstrap')
  must('node', 'scripts/release.mjs', '--image', 'stand-in', '--out', out)
  return `oci-archive:${join(out, 'image.tar')}`
}

describe('the image', { timeout: 900_000 }, () => {
  it('stands on one pinned, slim Node 24 in every stage', () => {
    const bases = new Set(stages.slice(0, -1).map(({ image }) => image))
    expect([...bases]).toEqual([expect.stringMatching(/^node:24\.\d+\.\d+-[a-z]+-slim$/)])
    expect(final.image).toBe('scratch')
  })

  it('runs without root, in exec form, and says how it is', () => {
    const of = (name: string): string[] => final.instructions.filter((one) => one.name === name).map(({ rest }) => rest)
    expect(of('USER')).toEqual(['1000:1000'])
    expect(of('ENTRYPOINT')).toEqual(['["node", "--max-semi-space-size=32", "dist/cli.js"]'])
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

  describe('when it is built', () => {
    let image = ''
    const buildah = { env: { ...process.env, STORAGE_DRIVER: 'vfs', BUILDAH_ISOLATION: 'chroot' } }
    // Debian's packages and two stages on a busy machine can take longer than any other test.
    beforeAll(() => {
      image = build()
    }, 2_700_000)
    afterAll(() => rmSync(out, { recursive: true, force: true }))

    const fromRelease = hasDocker ? [] : [out]
    it.each(fromRelease)('is the one that the packed chart names, and says the version of the package', (folder) => {
      const lines = must('node', 'scripts/check-release.mjs', folder).split('\n')
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
      expect(lines).toContain('its homepage: "https://github.com/Example/Threatweave#readme"')
      expect(lines).toContainEqual(
        expect.stringMatching(/^the image of the chart: ghcr\.io\/example\/threatweave@sha256:[0-9a-f]{64}$/),
      )
      expect(lines.at(-1)).toBe(`the version of the image: ${version}`)
    })

    /** In a container of its own, as the image's user. */
    const inside = (command: readonly string[], input = '', env: Readonly<Record<string, string>> = {}) => {
      if (hasDocker) {
        const given = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
        return run('docker', ['run', '--rm', '-i', ...given, '--entrypoint', command[0]!, image, ...command.slice(1)], {
          input,
        })
      }
      const container = run('buildah', ['from', '--pull-never', image], buildah).stdout.trim()
      const given = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`])
      try {
        return run('buildah', ['run', ...given, container, '--', ...command], { ...buildah, input })
      } finally {
        run('buildah', ['rm', container], buildah)
      }
    }

    it('annotates, as a user that is not root', () => {
      expect(inside(['id', '-u']).stdout.trim()).toBe('1000')
      const env = { THREATWEAVE_MEMORY_PATH: 'none', THREATWEAVE_GATE_DOCUMENTATION: 'true' }
      const command = ['node', 'dist/cli.js', 'pipe', '--feed', 'examples/feeds/sample-feed.csv']
      expect(inside(command, '{"src_ip":"198.51.100.60"}\n', env).stdout).toContain('"verdict":"malicious"')
    })

    it('accepts the configuration that the chart makes', () => {
      const { ok, stdout } = run(paths!.helm, [
        'template',
        join(root, 'helm/threatweave'),
        '--values',
        join(root, 'helm/threatweave/ci/gateway-values.yaml'),
        '--show-only',
        'templates/config.yaml',
      ])
      expect(ok).toBe(true)
      const { data } = parse(stdout) as { data: Readonly<Record<string, string>> }
      const config = Object.entries(data).find(([name]) => name.endsWith('.yaml'))![1]
      const command = 'cat > /tmp/c.yaml && node dist/cli.js check --config /tmp/c.yaml'
      const checked = inside(['sh', '-c', command], config, { THREATWEAVE_INTEL_SERVICE_API_KEY: 'only-for-this-test' })
      expect(checked.ok, checked.output).toBe(true)
    })

    it('has no package manager, no development dependency, and a list of what is in it', () => {
      for (const name of ['npm', 'npx', 'corepack', 'yarn', 'apt-get', 'dpkg'])
        expect(inside(['sh', '-c', `command -v ${name}`]).stdout).toBe('')
      expect(inside(['ls', 'node_modules']).stdout).toContain('fastify')
      expect(inside(['ls', 'node_modules']).stdout).not.toContain('vitest')
      const { bomFormat, components } = JSON.parse(inside(['cat', 'sbom.cdx.json']).stdout) as {
        bomFormat: string
        components: readonly { readonly name: string }[]
      }
      expect(bomFormat).toBe('CycloneDX')
      const { dependencies, optionalDependencies } = JSON.parse(
        readFileSync(join(root, 'package.json'), 'utf8'),
      ) as Readonly<Record<'dependencies' | 'optionalDependencies', Readonly<Record<string, string>>>>
      const names = new Set(components.map(({ name }) => name))
      expect(Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !names.has(name))).toEqual([])
    })
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
    expect(ours).toHaveLength(5)
    for (const { environment = {}, read_only } of ours) {
      expect(loadAny({ env: environment, readFile: () => '' })).not.toHaveProperty('problems')
      expect(read_only).toBe(true)
    }
  })
})
