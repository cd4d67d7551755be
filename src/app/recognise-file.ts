// Detects whether a file is a configuration, a Sigma rule, a log format, a source, a sink, a file of silences, a service's profile, a judgement table or a feed.
import { judgementSchema } from '../config/judgement-file.js'
import { configSchema } from '../config/schema.js'
import { profileSchema } from '../config/profile-file.js'
import { sourceSchema } from '../config/source-file.js'
import { silencesSchema } from '../parts/notify/silence-file.js'
import { sinkSchema } from '../parts/notify/sink-file.js'

export type FileKind =
  'configuration' | 'rule' | 'format' | 'source' | 'sink' | 'silences' | 'profile' | 'judgement table' | 'feed'

/** `id` is in rules and formats as well, `rows` and `categories` in judgement tables. */
const sharedNames = new Set(['id', 'name', 'rows', 'categories', 'key', 'examples', 'levels'])

/** Top-level names of each kind; `id` and `fields` occur in rules and formats. */
const names: Readonly<Record<Exclude<FileKind, 'feed'>, ReadonlySet<string>>> = {
  configuration: new Set(Object.keys(configSchema.properties)),
  rule: new Set(['title', 'logsource', 'detection', 'status', 'description', 'author', 'date', 'level', 'tags']),
  'judgement table': new Set(Object.keys(judgementSchema.properties)),
  source: new Set(Object.keys(sourceSchema.properties).filter((name) => !sharedNames.has(name))),
  profile: new Set(Object.keys(profileSchema.properties).filter((name) => !sharedNames.has(name))),
  sink: new Set(Object.keys(sinkSchema.properties).filter((name) => !sharedNames.has(name))),
  silences: new Set(Object.keys(silencesSchema.properties)),
  format: new Set(['cut', 'contains', 'separator', 'words', 'variants', 'line', 'when', 'set', 'example']),
}

/** Feeds in JSON have a `date` and a `description` too; a rule or format in JSON has one of these. */
const certain = new Set([
  ...names.configuration,
  ...names['judgement table'],
  'detection',
  'logsource',
  'cut',
  'contains',
  'variants',
  'ask',
  'operations',
  'envelope',
  'silences',
])

const isJson = (text: string): boolean => /^\s*[{[]/.test(text)

/** The kind with the most matching names, so that a file with a typo is still recognised. */
export const recogniseFile = (name: string, text: string): FileKind | undefined => {
  const found = namesIn(text)
  if (isJson(text) && !found.some((one) => certain.has(one))) return 'feed'
  const scores = (
    ['configuration', 'rule', 'format', 'source', 'sink', 'silences', 'profile', 'judgement table'] as const
  ).map((kind) => [kind, found.filter((one) => names[kind].has(one)).length] as const)
  const [best] = scores.toSorted(([, a], [, b]) => b - a)
  if (best !== undefined && best[1] > 0) return best[0]
  const isYaml = /\.ya?ml$/i.test(name)
  if (found.length > 0 && isYaml) return undefined
  return isYaml ? 'configuration' : 'feed'
}

/** Not parsed as YAML, so that a broken file is still recognised. */
const namesIn = (text: string): readonly string[] => {
  if (isJson(text)) {
    try {
      const value: unknown = JSON.parse(text)
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : []
    } catch {
      return []
    }
  }
  return [...text.matchAll(/^["']?([A-Za-z]\w*)["']?:(?=\s|$)/gm)].map((match) => match[1] ?? '')
}
