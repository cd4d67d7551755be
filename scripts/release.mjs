// Makes what a release consists of in release/: package, list of parts, chart, notes, checksums, and the image. Publishes nothing.
// usage: node scripts/release.mjs [--image none|stand-in|local]    (default: local, with Docker or buildah)
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { provisionTools, run } from './tools.mjs'

const root = resolve(import.meta.dirname, '..')
const read = (file) => readFileSync(join(root, file), 'utf8')

/** The part of the changelog about one version, without its heading; undefined if there is none. */
export const notesOf = (changelog, version) => {
  const parts = changelog.split(/^## /m)
  const part = parts.find((one) => one.split(/[\s\n]/, 1)[0] === version)
  return part?.slice(part.indexOf('\n') + 1).trim()
}

/** What does not fit together; every place must say the same version. */
export const versionProblems = ({ manifest, chart, changelog, tag }) => {
  const { version } = JSON.parse(manifest)
  const chartVersion = /^version: (.+)$/m.exec(chart)?.[1]
  const appVersion = /^appVersion: (.+)$/m.exec(chart)?.[1]
  return [
    ...(tag !== undefined && tag !== `v${version}` ? [`the tag is ${tag}, package.json has ${version}`] : []),
    ...(chartVersion === version
      ? []
      : [`helm/threatweave/Chart.yaml has version ${chartVersion}, package.json ${version}`]),
    ...(appVersion === version
      ? []
      : [`helm/threatweave/Chart.yaml has appVersion ${appVersion}, package.json ${version}`]),
    ...(notesOf(changelog, version) ? [] : [`CHANGELOG.md has no entry for ${version}`]),
  ]
}

const must = (command, args, options = {}) => {
  const { ok, stdout, output } = run(command, args, { cwd: root, ...options })
  if (!ok) throw new Error(`${command} ${args.join(' ')} failed:\n${output.slice(-2_000)}`)
  return stdout
}

const listOfParts = () => {
  const work = mkdtempSync(join(tmpdir(), 'threatweave-release-'))
  // The list names the folder.
  const folder = join(work, 'threatweave')
  mkdirSync(folder)
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) cpSync(join(root, file), join(folder, file))
  must('npm', ['ci', '--omit=dev', '--ignore-scripts'], { cwd: folder })
  const text = must('node', [join(root, 'scripts/sbom.mjs')], { cwd: folder })
  rmSync(work, { recursive: true })
  return text
}

/** Without scripts and development dependencies, which are of use in the repository alone: npm warns about scripts of what is installed. */
const pack = (folder) => {
  const work = mkdtempSync(join(tmpdir(), 'threatweave-release-'))
  const [{ filename }] = JSON.parse(must('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', work]))
  must('tar', ['xzf', filename], { cwd: work })
  const cwd = join(work, 'package')
  must('npm', ['pkg', 'delete', 'scripts', 'devDependencies'], { cwd })
  must('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd })
  rmSync(work, { recursive: true })
}

const release = ({ image, tag }) => {
  const problems = versionProblems({
    manifest: read('package.json'),
    chart: read('helm/threatweave/Chart.yaml'),
    changelog: read('CHANGELOG.md'),
    tag,
  })
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const { version } = JSON.parse(read('package.json'))
  const folder = join(root, 'release')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'chart'), { recursive: true })

  must('npm', ['run', 'build'])
  pack(folder)
  writeFileSync(join(folder, `threatweave-${version}.cdx.json`), listOfParts())
  const { paths, missing } = provisionTools()
  if (missing) throw new Error(missing)
  must(paths.helm, ['package', 'helm/threatweave', '--destination', join(folder, 'chart')])
  writeFileSync(join(folder, 'notes.md'), `${notesOf(read('CHANGELOG.md'), version)}\n`)
  if (image !== 'none') {
    const args = image === 'stand-in' ? ['--stand-in'] : []
    console.log(
      `image  ${must('bash', ['scripts/build-image.sh', ...args, `threatweave:${version}`])
        .trim()
        .split('\n')
        .at(-1)}`,
    )
  }

  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .toSorted()
  const sums = files.map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex')}  ${name}`,
  )
  writeFileSync(join(folder, 'SHA256SUMS'), `${sums.join('\n')}\n`)
  for (const name of files) console.log(`${String(statSync(join(folder, name)).size).padStart(9)}  release/${name}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  try {
    const { values } = parseArgs({ options: { image: { type: 'string', default: 'local' } } })
    if (!['none', 'stand-in', 'local'].includes(values.image))
      throw new Error('--image must be none, stand-in or local')
    const { GITHUB_REF_TYPE, GITHUB_REF_NAME } = process.env
    release({ image: values.image, tag: GITHUB_REF_TYPE === 'tag' ? GITHUB_REF_NAME : undefined })
  } catch (error) {
    console.error(`release: ${error.message}`)
    process.exitCode = 1
  }
