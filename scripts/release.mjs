// Builds the files of a release: package, bill of materials, image, chart, notes and checksums. Publishes nothing.
// usage: node scripts/release.mjs [--image archive|stand-in|none] [--out FOLDER]
// GITHUB_REPOSITORY (OWNER/NAME) names the repository in the package and the registry of the image in the chart.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { provisionTools, run } from './tools.mjs'

const root = resolve(import.meta.dirname, '..')
const read = (file) => readFileSync(join(root, file), 'utf8')

/** The changelog section of one version, without its heading; undefined if there is none. */
export const notesOf = (changelog, version) => {
  const parts = changelog.split(/^## /m)
  const part = parts.find((one) => one.split(/[\s\n]/, 1)[0] === version)
  return part?.slice(part.indexOf('\n') + 1).trim()
}

/** Checks that the package, the chart, the changelog and the tag have the same version. */
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

/** The package fields that npm shows and needs for provenance: the repository must match the publishing workflow. */
export const whereItLives = (repository) => {
  const url = `https://github.com/${repository}`
  return {
    repository: { type: 'git', url: `git+${url}.git` },
    bugs: { url: `${url}/issues` },
    homepage: `${url}#readme`,
  }
}

/** Registries accept only lower case. */
export const imageName = (repository) => `ghcr.io/${repository.toLowerCase()}`

/** The digest of the only image, or of its index of platforms, in an OCI archive. Copying to a registry preserves it. */
export const digestIn = (index) => {
  const { manifests } = JSON.parse(index)
  if (manifests.length !== 1) throw new Error(`the archive has ${manifests.length} images where one is expected`)
  return manifests[0].digest
}

/** The chart's values with the image of this release instead of the placeholder. */
export const valuesWithImage = (values, image) => {
  const edited = values
    .replace(/^( {2}repository: ).*$/m, `$1${image.name}`)
    .replace(/^( {2}digest: )''$/m, `$1'${image.digest}'`)
  if (!edited.includes(image.name) || !edited.includes(image.digest))
    throw new Error('values.yaml has no image to name')
  return edited
}

const must = (command, args, options = {}) => {
  const { ok, stdout, output } = run(command, args, { cwd: root, ...options })
  if (!ok) throw new Error(`${command} ${args.join(' ')} failed:\n${output.slice(-2_000)}`)
  return stdout
}

const listOfParts = () => {
  const work = mkdtempSync(join(tmpdir(), 'threatweave-release-'))
  // The bill of materials includes the name of this folder.
  const folder = join(work, 'threatweave')
  mkdirSync(folder)
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) cpSync(join(root, file), join(folder, file))
  must('npm', ['ci', '--omit=dev', '--ignore-scripts'], { cwd: folder })
  const text = must('node', [join(root, 'scripts/sbom.mjs')], { cwd: folder })
  rmSync(work, { recursive: true })
  return text
}

/** Leaves out scripts and development dependencies, which are useful only in the repository; npm warns about install scripts. */
const pack = (folder, repository) => {
  const work = mkdtempSync(join(tmpdir(), 'threatweave-release-'))
  const [{ filename }] = JSON.parse(must('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', work]))
  must('tar', ['xzf', filename], { cwd: work })
  const cwd = join(work, 'package')
  const { scripts, devDependencies, ...manifest } = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'))
  writeFileSync(
    join(cwd, 'package.json'),
    `${JSON.stringify({ ...manifest, ...(repository && whereItLives(repository)) }, null, 2)}
`,
  )
  must('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd })
  rmSync(work, { recursive: true })
}

/** Writes image.tar, an OCI archive, and image.txt, with the name and digest for publishing. */
const buildImage = (kind, folder, repository) => {
  must('bash', ['scripts/image-archive.sh', ...(kind === 'stand-in' ? ['--stand-in'] : []), join(folder, 'image.tar')])
  const digest = digestIn(must('tar', ['xOf', join(folder, 'image.tar'), 'index.json']))
  const image = { name: imageName(repository ?? 'threatweave/threatweave'), digest }
  writeFileSync(
    join(folder, 'image.txt'),
    `${image.name}@${image.digest}
`,
  )
  return image
}

const packChart = (helm, folder, image) => {
  const work = mkdtempSync(join(tmpdir(), 'threatweave-release-'))
  const chart = join(work, 'threatweave')
  cpSync(join(root, 'helm/threatweave'), chart, { recursive: true })
  const values = join(chart, 'values.yaml')
  if (image) writeFileSync(values, valuesWithImage(readFileSync(values, 'utf8'), image))
  must(helm, ['package', chart, '--destination', join(folder, 'chart')])
  rmSync(work, { recursive: true })
}

const release = ({ kind, folder, tag, repository }) => {
  const problems = versionProblems({
    manifest: read('package.json'),
    chart: read('helm/threatweave/Chart.yaml'),
    changelog: read('CHANGELOG.md'),
    tag,
  })
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const { version } = JSON.parse(read('package.json'))
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'chart'), { recursive: true })
  const { paths, missing } = provisionTools()
  if (missing) throw new Error(missing)

  must('npm', ['run', 'build'])
  pack(folder, repository)
  writeFileSync(join(folder, `threatweave-${version}.cdx.json`), listOfParts())
  writeFileSync(join(folder, 'notes.md'), `${notesOf(read('CHANGELOG.md'), version)}\n`)
  packChart(paths.helm, folder, kind === 'none' ? undefined : buildImage(kind, folder, repository))

  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .toSorted()
  const sums = files.map((name) => `${must('sha256sum', ['--', name], { cwd: folder })}`)
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
  for (const name of files) console.log(`${String(statSync(join(folder, name)).size).padStart(9)}  ${name}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  try {
    const { values } = parseArgs({
      options: {
        image: { type: 'string', default: 'archive' },
        out: { type: 'string', default: join(root, 'release') },
      },
    })
    if (!['none', 'stand-in', 'archive'].includes(values.image))
      throw new Error('--image must be archive, stand-in or none')
    const { GITHUB_REF_TYPE, GITHUB_REF_NAME, GITHUB_REPOSITORY } = process.env
    release({
      kind: values.image,
      folder: resolve(values.out),
      tag: GITHUB_REF_TYPE === 'tag' ? GITHUB_REF_NAME : undefined,
      repository: GITHUB_REPOSITORY,
    })
  } catch (error) {
    console.error(`release: ${error.message}`)
    process.exitCode = 1
  }
