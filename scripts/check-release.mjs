// Checks the files of a release as users get them: the package manifest, the image in the chart, and the image's own version.
// usage: node scripts/check-release.mjs [FOLDER]    Needs docker with skopeo, or buildah.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { provisionTools, run } from './tools.mjs'
import { digestIn, whereItLives } from './release.mjs'

const root = resolve(import.meta.dirname, '..')
const folder = resolve(process.argv[2] ?? join(root, 'release'))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const archive = join(folder, 'image.tar')

const must = (command, args, options = {}) => {
  const { ok, stdout, output } = run(command, args, { cwd: folder, ...options })
  if (!ok) throw new Error(`${command} ${args.join(' ')} failed:\n${output.slice(-2_000)}`)
  return stdout
}

const equal = (what, got, expected) => {
  if (got !== expected) throw new Error(`${what}: ${got} instead of ${expected}`)
  console.log(`${what}: ${got}`)
}

/** The output of --version from the image in the archive. */
const imageVersion = () => {
  if (run('docker', ['version']).ok) {
    const name = `threatweave:release-${version}`
    must('skopeo', ['copy', '--quiet', `oci-archive:${archive}`, `docker-daemon:${name}`])
    return must('docker', ['run', '--rm', name, '--version'])
  }
  const options = { env: { ...process.env, STORAGE_DRIVER: 'vfs', BUILDAH_ISOLATION: 'chroot' } }
  const container = must('buildah', ['from', '--pull-never', `oci-archive:${archive}`], options).trim()
  try {
    return must('buildah', ['run', container, '--', 'node', 'dist/cli.js', '--version'], options)
  } finally {
    run('buildah', ['rm', container], options)
  }
}

/** All images that workloads of the packed chart use. */
const imagesOfChart = () => {
  const { paths, missing } = provisionTools()
  if (missing) throw new Error(missing)
  const values = join(root, 'helm/threatweave/ci/gateway-values.yaml')
  const rendered = must(paths.helm, ['template', join('chart', `threatweave-${version}.tgz`), '--values', values])
  return [...new Set([...rendered.matchAll(/^\s*(?:- )?image: "?([^"\n]+)"?$/gm)].map(([, image]) => image))]
}

try {
  must('sha256sum', ['--check', '--quiet', 'SHA256SUMS'])
  const manifest = JSON.parse(must('tar', ['xzOf', `threatweave-${version}.tgz`, 'package/package.json']))
  equal('the package', `${manifest.name} ${manifest.version}`, `threatweave ${version}`)
  const { GITHUB_REPOSITORY: repository } = process.env
  if (repository)
    for (const [member, expected] of Object.entries(whereItLives(repository)))
      equal(`its ${member}`, JSON.stringify(manifest[member]), JSON.stringify(expected))
  const reference = readFileSync(join(folder, 'image.txt'), 'utf8').trim()
  equal('the digest', reference.split('@')[1], digestIn(must('tar', ['xOf', archive, 'index.json'])))
  equal('the image of the chart', imagesOfChart().join(', '), reference)
  equal('the version of the image', imageVersion().trim(), version)
} catch (error) {
  console.error(`check-release: ${error.message}`)
  process.exitCode = 1
}
