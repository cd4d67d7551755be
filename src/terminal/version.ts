// The version from package.json.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../base/package-folder.js'

export const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
  readonly version: string
}
