// Lists production dependencies with their licences, and writes a bill of materials.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(import.meta.dirname, '..')

/** Licences that require only attribution. */
export const permissive = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  '0BSD',
  'Unlicense',
])

/** Reads the lock file and node_modules, without network access. */
export const productionLicences = () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages)
    .filter(([path, entry]) => path !== '' && !entry.dev && !entry.devOptional && existsSync(join(root, path)))
    .map(([path]) => JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')))
    .map(({ name, version, license }) => ({
      name,
      version,
      licence: typeof license === 'string' ? license : (license?.type ?? 'none'),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name, version, licence } of productionLicences()) console.log(`${licence.padEnd(14)}${name}@${version}`)
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['sbom', '--omit=dev', '--sbom-format=cyclonedx', '--sbom-type=application'],
    { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  )
  if (status !== 0) {
    console.error(stderr)
    process.exitCode = 1
  } else {
    writeFileSync(join(root, 'sbom.cdx.json'), stdout)
    console.log(
      '\nsbom.cdx.json written (CycloneDX); `npm audit --omit=dev --audit-level=high` asks the registry for known holes',
    )
  }
}
