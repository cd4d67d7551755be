// The lookup service's profile: the bundled one, overlaid with the file in `intel.service.profile`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../base/message-of.js'
import { packageFolder } from '../base/package-folder.js'
import { describeProblem, type Problem } from '../config/problem.js'
import { readProfileFile } from '../config/profile-file.js'
import type { Config } from '../config/schema.js'
import type { ServiceProfile } from '../domain/service-profile.js'

const bundledFile = join(packageFolder, 'sources', 'lookup-service.yaml')

let bundled: ServiceProfile | undefined

export const bundledProfile = (): ServiceProfile => {
  if (bundled) return bundled
  const read = readProfileFile({ name: bundledFile, text: readFileSync(bundledFile, 'utf8') })
  if ('problems' in read) throw new Error(read.problems.map(describeProblem).join('\n'))
  return (bundled = read.profile)
}

type Opened = { readonly profile: ServiceProfile } | { readonly problems: readonly Problem[] }

export const openProfile = ({
  profile: name,
  baseUrl,
}: Pick<Config['intel']['service'], 'profile' | 'baseUrl'>): Opened => {
  // A local socket leads to our own gateway, which has the provider's profile.
  if (name === '' || baseUrl.startsWith('unix:')) return { profile: bundledProfile() }
  const setting = 'intel.service.profile'
  let text: string
  try {
    text = readFileSync(name, 'utf8')
  } catch (error) {
    return { problems: [{ setting, message: `cannot be read: ${messageOf(error)}` }] }
  }
  const read = readProfileFile({ name, text }, bundledProfile())
  if ('profile' in read) return read
  return {
    problems: read.problems.map((problem) => ({
      ...problem,
      setting: problem.setting === name ? setting : `${setting}: ${problem.setting}`,
    })),
  }
}
