// Prints a CycloneDX bill of materials of the production dependencies in the current folder, whose manifest it changes: use a copy.
import { execFileSync } from 'node:child_process'

// With --omit=dev npm also omits packages that production and development dependencies share.
execFileSync('npm', ['pkg', 'delete', 'devDependencies'])
const parts = JSON.parse(execFileSync('npm', ['sbom', '--sbom-format=cyclonedx'], { encoding: 'utf8' }))
// Some packages give their repository as git@host:path, which is not a valid URL for this format.
for (const part of parts.components)
  part.externalReferences = part.externalReferences.filter(({ url }) => URL.canParse(url))
process.stdout.write(`${JSON.stringify(parts, undefined, 2)}\n`)
