// Prints the list of parts (CycloneDX) of the production dependencies installed in the current folder, a throw-away copy: its manifest is changed.
import { execFileSync } from 'node:child_process'

// With --omit=dev npm also leaves out what development dependencies share with the program.
execFileSync('npm', ['pkg', 'delete', 'devDependencies'])
const parts = JSON.parse(execFileSync('npm', ['sbom', '--sbom-format=cyclonedx'], { encoding: 'utf8' }))
// Some packages name their repository as git@host:path, which is not a URL; the format wants one.
for (const part of parts.components)
  part.externalReferences = part.externalReferences.filter(({ url }) => URL.canParse(url))
process.stdout.write(`${JSON.stringify(parts, undefined, 2)}\n`)
