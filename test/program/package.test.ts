// The packed package, installed in another folder and used as CommonJS, as ESM and from the command line.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support/cli.js'

const elsewhere = mkdtempSync(join(tmpdir(), 'threatweave-package-'))
const run = (command: string, args: string[], cwd = elsewhere): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', env: { PATH: process.env.PATH ?? '', HOME: elsewhere } })

beforeAll(() => {
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', elsewhere], {
      cwd: root,
      encoding: 'utf8',
    }),
  ) as [{ filename: string }]
  run('tar', ['xzf', filename])
  // What an install would fetch is there already: only the package itself is under test.
  mkdirSync(join(elsewhere, 'node_modules'))
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(elsewhere, 'node_modules', name))
  cpSync(join(elsewhere, 'package'), join(elsewhere, 'node_modules', 'threatweave'), { recursive: true })
})

describe('the package', () => {
  it.each([
    ['ESM', 'use.mjs', "import { createEnricher } from 'threatweave'\n"],
    ['CommonJS', 'use.cjs', "const { createEnricher } = require('threatweave')\n"],
  ])('works as %s', (_, file, load) => {
    const sample = JSON.stringify({ name: 'sample', path: join(root, 'examples/feeds/sample-names.txt') })
    const program = `${load}createEnricher({ settings: { feeds: [${sample}] } }).then(async (enricher) => {
      const { annotation } = await enricher.enrich('{"src_ip":"10.0.0.1"}')
      console.log(annotation.status, annotation.indicators[0].reason)
      await enricher.close()
    })`
    writeFileSync(join(elsewhere, file), program)
    expect(run(process.execPath, [file])).toBe('skipped private_address\n')
  })

  it('brings its command, its schemas and its types along and leaves sources and tests out', () => {
    const manifest = JSON.parse(readFileSync(join(elsewhere, 'package/package.json'), 'utf8')) as {
      bin: Record<string, string>
    }
    expect(run(process.execPath, [join('package', manifest.bin.threatweave ?? ''), '--help'])).toContain(
      'Usage: threatweave',
    )
    const files = readdirSync(join(elsewhere, 'package'))
    expect(files).toEqual(expect.arrayContaining(['dist', 'schemas', 'LICENSE', 'README.md']))
    expect(files.filter((name) => ['src', 'test', 'bench'].includes(name))).toEqual([])
    expect(readdirSync(join(elsewhere, 'package/dist'))).toContain('index.d.ts')
  })

  it('has in the files of its command the packages that a start would look for one by one, with their terms', () => {
    const program = join(elsewhere, 'package/dist/program')
    const scripts = readdirSync(program).filter((name) => name.endsWith('.js'))
    const imported = scripts.flatMap((name) =>
      [...readFileSync(join(program, name), 'utf8').matchAll(/^(?:import|\} from) .*?"([^".][^"]*)";$/gm)].map(
        ([, from]) => from ?? '',
      ),
    )
    expect(imported).toContain('node:fs')
    expect(imported.filter((from) => !from.startsWith('node:'))).toEqual([])
    const { dependencies } = JSON.parse(readFileSync(join(elsewhere, 'package/package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    const terms = readFileSync(join(program, 'licenses.txt'), 'utf8')
    const without = Object.entries(dependencies).filter(([name, version]) => !terms.includes(`${name} ${version}: `))
    expect(without.map(([name]) => name)).toEqual(['kafkajs'])
  })

  it('brings its log formats along, and they pass their examples there', () => {
    const cli = join('package', 'dist', 'cli.js')
    expect(run(process.execPath, [cli, 'check', join('package', 'formats')])).toMatch(/: \d\d formats, 0 errors\n$/)
  })

  it('brings its list of shared hosts along, and reads it there', () => {
    const feed = join(elsewhere, 'feed.txt')
    writeFileSync(feed, 'github.com\nbad.example.com\n')
    const program = `import { createEnricher } from 'threatweave'
      const enricher = await createEnricher({ settings: { feeds: [{ name: 'ours', path: ${JSON.stringify(feed)} }] } })
      for (const name of ['github.com', 'bad.example.com'])
        console.log((await enricher.enrich(JSON.stringify({ dns: { question: { name } } }))).annotation.verdict)
      await enricher.close()`
    writeFileSync(join(elsewhere, 'lists.mjs'), program)
    expect(run(process.execPath, ['lists.mjs'])).toBe('unknown\nmalicious\n')
  })

  it('works without AWS’s signer, and says what to install where a login needs it', () => {
    const without = mkdtempSync(join(tmpdir(), 'threatweave-without-'))
    cpSync(join(elsewhere, 'package'), join(without, 'package'), { recursive: true })
    mkdirSync(join(without, 'node_modules'))
    for (const name of readdirSync(join(root, 'node_modules')))
      if (!name.startsWith('.') && !name.startsWith('@aws') && !name.startsWith('aws-'))
        symlinkSync(join(root, 'node_modules', name), join(without, 'node_modules', name))
    const kafka = {
      BROKERS: '127.0.0.1:9',
      INPUT_TOPICS: 'in',
      OUTPUT_TOPIC: 'out',
      DEAD_LETTER_TOPIC: 'dead',
      TLS_ENABLED: 'true',
      SASL_MECHANISM: 'aws-msk-iam',
      SASL_REGION: 'eu-central-1',
    }
    const env = Object.fromEntries(Object.entries(kafka).map(([name, value]) => [`THREATWEAVE_KAFKA_${name}`, value]))
    const { status, stderr } = spawnSync(process.execPath, [join('package', 'dist', 'cli.js'), 'run'], {
      cwd: without,
      encoding: 'utf8',
      env,
    })
    expect(stderr).toContain(
      'kafka.sasl.mechanism aws-msk-iam needs the package aws-msk-iam-sasl-signer-js, which is not installed: npm install aws-msk-iam-sasl-signer-js',
    )
    expect(status).toBe(78)
  })

  it('runs the example of the documentation', () => {
    const printed = execFileSync(process.execPath, ['examples/library/enrich.mjs'], { cwd: root, encoding: 'utf8' })
    expect(printed).toContain('malicious 198.51.100.60 is malicious')
    expect(printed.trimEnd().split('\n')).toHaveLength(4)
  })
})
