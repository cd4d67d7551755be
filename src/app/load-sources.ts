// Loads the configured sources with their descriptions, keys and ask modes, or returns the problems.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { didYouMean } from '../config/did-you-mean.js'
import { readText } from '../config/load-config.js'
import type { Problem, Refused } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { readSourceFile } from '../config/source-file.js'
import type { CallLimit, SourceDescription } from '../domain/source-description.js'
import { messageOf } from '../base/message-of.js'
import { packageFolder } from '../base/package-folder.js'
import type { AskMode } from '../lookup/join-sources.js'
import { readKeyFile } from './read-key-file.js'

const sourcesFolder = join(packageFolder, 'sources')
/** The lookup service itself, which does not count as a source. */
const serviceFile = join(sourcesFolder, 'lookup-service.yaml')

export type ConfiguredSource = {
  readonly description: SourceDescription
  /** Empty if the source needs no key. */
  readonly apiKey: string
  readonly concurrency: number
  readonly ask: AskMode
  readonly limits: readonly CallLimit[]
  /** The lookup service is a gateway that calls this source for us. */
  readonly isAtGateway: boolean
}

/** `needsKeys`: false for commands that call no source. */
export const loadSources = (
  { intel, feeds }: Config,
  { needsKeys = true }: { readonly needsKeys?: boolean } = {},
): readonly ConfiguredSource[] | Refused => {
  const problems: Problem[] = []
  const names = new Set(feeds.map(({ name }) => name))
  const loaded = intel.sources.flatMap((settings, at): readonly ConfiguredSource[] => {
    const setting = `intel.sources.${at}`
    const description = describe(settings, setting, problems)
    if (!description) return []
    const { id, key } = description
    if (names.has(id)) problems.push({ setting, message: `is named ${id} like a feed or another source` })
    names.add(id)
    const isAtGateway = settings.gateway === true
    const hasKey = needsKeys && !isAtGateway
    const apiKey = hasKey ? keyIn(settings.apiKeyFile, `${setting}.apiKeyFile`, problems) : ''
    if (hasKey && key && key.optional !== true && settings.apiKeyFile === undefined)
      problems.push({ setting, message: `needs apiKeyFile: a file with your key for ${description.name}` })
    if (!key && settings.apiKeyFile !== undefined)
      problems.push({ setting: `${setting}.apiKeyFile`, message: `is not used: ${description.name} takes no key` })
    const ask = settings.ask ?? (intel.service.apiKey === '' ? 'always' : 'accused')
    const { concurrency } = settings
    return [{ description, apiKey, concurrency, ask, limits: limitsOf(description, settings.perDay), isAtGateway }]
  })
  return problems.length > 0 ? { problems } : loaded
}

type SourceSettings = Config['intel']['sources'][number]

const describe = (
  { use, file }: SourceSettings,
  setting: string,
  problems: Problem[],
): SourceDescription | undefined => {
  const path = file ?? join(sourcesFolder, `${use ?? ''}.yaml`)
  if (file === undefined && (!existsSync(path) || path === serviceFile)) {
    const bundled = readdirSync(sourcesFolder)
      .filter((name) => join(sourcesFolder, name) !== serviceFile)
      .map((name) => name.replace(/\.yaml$/, ''))
    const hint = didYouMean(use ?? '', bundled) || `; there are ${bundled.join(', ')}`
    problems.push({ setting: `${setting}.use`, message: `is not a bundled source${hint}` })
    return undefined
  }
  try {
    const read = readSourceFile({ name: path, text: readText(path) })
    if ('source' in read) return read.source
    for (const problem of read.problems)
      problems.push({
        setting: `${setting}.${file === undefined ? 'use' : 'file'}`,
        message: `${problem.setting} ${problem.message}`,
        ...(problem.where !== undefined && { where: problem.where }),
      })
  } catch (error) {
    problems.push({ setting: `${setting}.file`, message: `cannot be read: ${messageOf(error)}` })
  }
  return undefined
}

const keyIn = (file: string | undefined, setting: string, problems: Problem[]): string => {
  const read = file === undefined ? { key: '' } : readKeyFile(file)
  if ('key' in read) return read.key
  problems.push({ setting, message: read.problem })
  return ''
}

/** `perDay` replaces the daily limit of the description. */
const limitsOf = ({ limits }: SourceDescription, perDay: number | undefined): readonly CallLimit[] =>
  perDay === undefined ? limits : [...limits.filter(({ per }) => per !== 'day'), { calls: perDay, per: 'day' as const }]
