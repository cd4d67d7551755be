// The package of a release, installed by npm in an empty folder: its command, its library and its types.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { provisionTools } from '../../scripts/tools.mjs'
import { root } from '../support/cli.js'
import { missingFrom } from '../support/recording.js'

const folder = mkdtempSync(join(tmpdir(), 'threatweave-installed-'))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const release = join(folder, 'release')
const tarball = join(release, `threatweave-${version}.tgz`)
const installed = join('node_modules', 'threatweave')
/** Not what npm passes on to the programs that it starts: settings of this repository. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))
const npx = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  spawnSync('npx', ['--yes', ...args], { cwd: folder, encoding: 'utf8', env: { ...env, ...more } })

beforeAll(() => {
  execFileSync('node', ['scripts/release.mjs', '--image', 'none', '--out', release], {
    cwd: root,
    stdio: 'ignore',
    env: { ...process.env, GITHUB_REPOSITORY: 'Example/Threatweave' },
  })
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  execFileSync('npm', ['install', '--no-audit', tarball], { cwd: folder, env, stdio: 'ignore' })
})

describe('the package of a release', () => {
  it('runs from its file, without an installation', () => {
    copyFileSync(tarball, join(folder, 'threatweave.tgz'))
    expect(npx(['./threatweave.tgz', '--version']).stdout.trim()).toBe(version)
  })

  it('runs what the README shows', () => {
    const logs = join(installed, 'examples/logs/firewall.log')
    expect(npx(['threatweave', 'extract', logs]).stdout.trim().split('\n')).toHaveLength(30)
    expect(npx(['threatweave', 'check', join(installed, 'formats')]).stdout).toMatch(/\d+ formats, 0 errors/)
    const feed = join(installed, 'examples/feeds/sample-feed.csv')
    const piped = npx(['threatweave', 'pipe', '--summary', '--feed', feed, logs], {
      THREATWEAVE_GATE_DOCUMENTATION: 'true',
    })
    expect(piped.stderr).toContain('30 events: 21 malicious')
    const alerts = npx(['threatweave', 'pipe', '--feed', feed, '--alerts', '-', logs], {
      THREATWEAVE_GATE_DOCUMENTATION: 'true',
    })
    expect(alerts.stdout).toContain('"name":"Connection to Malicious Address or Name"')
  })

  it('runs the demo, which prints what the recording in the README shows', () => {
    const { status, stdout } = npx(['threatweave', 'demo'])
    expect(status).toBe(0)
    expect(missingFrom(stdout)).toEqual([])
  })

  it('is a library with types', () => {
    const text = [
      `import { createEnricher, type Enricher } from 'threatweave'`,
      `const feeds = [{ name: 'sample', path: ${JSON.stringify(join(installed, 'examples/feeds/sample-feed.csv'))} }]`,
      `const enricher: Enricher = await createEnricher({ settings: { feeds, gate: { documentation: true } } })`,
      `const { annotation } = await enricher.enrich('{"src_ip":"198.51.100.60"}')`,
      `const verdict: 'malicious' | 'suspicious' | 'clean' | 'unknown' = annotation.verdict`,
      `process.stdout.write(verdict)`,
      `await enricher.close()`,
    ].join('\n')
    writeFileSync(join(folder, 'use.ts'), text)
    const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node']
    const types = ['--typeRoots', join(root, 'node_modules/@types')]
    const checked = spawnSync('node', [join(root, 'node_modules/typescript/bin/tsc'), ...options, ...types, 'use.ts'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(checked.stdout).toBe('')
    expect(execFileSync('node', ['use.js'], { cwd: folder, encoding: 'utf8' })).toBe('malicious')
  })

  it('comes with a list of parts that is valid CycloneDX', () => {
    const { paths, missing } = provisionTools()
    const program = [
      'import sys',
      'from cyclonedx.schema import SchemaVersion',
      'from cyclonedx.validation.json import JsonStrictValidator',
      'print(JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read()))',
    ].join('\n')
    expect(missing).toBeUndefined()
    const file = join(release, `threatweave-${version}.cdx.json`)
    expect(execFileSync(paths!.python, ['-c', program, file], { encoding: 'utf8' })).toBe('None\n')
  })

  it('has no scripts and nothing that only the repository needs', () => {
    const manifest = JSON.parse(readFileSync(join(folder, installed, 'package.json'), 'utf8')) as object
    expect(manifest).not.toHaveProperty('scripts')
    expect(manifest).not.toHaveProperty('devDependencies')
    expect(manifest).toHaveProperty('publishConfig', { access: 'public', provenance: true })
  })

  it('names the repository that publishes it, without which npm refuses its provenance', () => {
    const manifest: unknown = JSON.parse(
      execFileSync('tar', ['xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }),
    )
    expect(manifest).toMatchObject({
      repository: { type: 'git', url: 'git+https://github.com/Example/Threatweave.git' },
      bugs: { url: 'https://github.com/Example/Threatweave/issues' },
      homepage: 'https://github.com/Example/Threatweave#readme',
    })
  })
})
