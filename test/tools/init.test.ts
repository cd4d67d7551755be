// The values that `init` writes, rendered with the chart and judged by Kubernetes' own schemas.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { provisionTools, run } from '../../scripts/tools.mjs'
import { runCommand } from '../support/run-command.js'

const chart = resolve(import.meta.dirname, '../../helm/threatweave')
const { paths, missing } = provisionTools()

if (paths === undefined)
  it('is not tested for want of helm, which is a failure in CI', () => {
    process.stderr.write(`${missing ?? ''}\n`)
    expect(process.env.CI ?? '').toBe('')
  })

describe.runIf(paths !== undefined)('values of init', () => {
  const base = mkdtempSync(join(tmpdir(), 'init-values-'))
  const keyFile = join(base, 'key')
  writeFileSync(keyFile, 'only-for-this-test', { mode: 0o600 })
  const list = join(base, 'list.txt')
  writeFileSync(list, '198.51.100.7\n')

  it.each([
    ['a key, a list and every public list', ['--key-file', keyFile, '--list', list, '--feeds', 'all']],
    ['one public list', ['--key-file', 'none', '--feeds', 'tor-exits']],
  ])('with %s are rendered by the chart, with the configuration that was checked', async (_, args) => {
    const dir = mkdtempSync(join(base, 'out-'))
    const brokers = 'kafka.soc.svc.cluster.local:9092,kafka.example.com:9093,kafka:9094,[2001:db8::1]:9095'
    const given = ['--brokers', brokers, '--topic', 'firewall', '--for', 'kubernetes', '--dir', dir, ...args]
    expect(await runCommand(['init', ...given])).toMatchObject({ code: 0 })
    const values = join(dir, 'values.yaml')
    const linted = run(paths?.helm ?? '', ['lint', '--strict', '-f', values, chart])
    expect(linted.ok, linted.output).toBe(true)
    const { ok, stdout, output } = run(paths?.helm ?? '', ['template', 'weave', chart, '-n', 'soc', '-f', values])
    expect(ok, output).toBe(true)
    const manifests = parseAllDocuments(stdout).flatMap(
      (document) => (document.toJS() as { kind: string; data?: Record<string, string> } | null) ?? [],
    )
    const map = manifests.find(({ kind }) => kind === 'ConfigMap')
    const { config } = parse(readFileSync(values, 'utf8')) as { config: object }
    expect(parse(map?.data?.['threatweave.yaml'] ?? '')).toMatchObject(config)
    const files = manifests.map((manifest, nth) => {
      const path = join(dir, `${nth}.json`)
      writeFileSync(path, JSON.stringify(manifest))
      return path
    })
    const valid = run(paths?.kubernetesValidate ?? '', ['--strict', '--quiet', ...files])
    expect(valid.ok, valid.output).toBe(true)
  })
})
