// Recognises a file by its top-level names: configuration, rule, format, source, profile, table, feed, or a kind of a part.
import { judgementSchema } from '../config/judgement-file.js'
import { profileSchema } from '../config/profile-file.js'
import { sourceSchema } from '../config/source-file.js'
import { allSettings } from './load-config.js'
import type { FileOfPart } from './part.js'

type CoreKind = 'configuration' | 'rule' | 'format' | 'source' | 'profile' | 'judgement table' | 'feed'
export type FileKind = CoreKind | FileOfPart

/** Names that several kinds share. They do not identify a source, a profile or a kind of a part. */
const sharedNames = new Set(['id', 'name', 'rows', 'categories', 'key', 'examples', 'levels'])

/** Top-level names of each kind; `id` and `fields` occur in rules and formats, so they are left out. */
const names: Readonly<Record<Exclude<CoreKind, 'feed'>, ReadonlySet<string>>> = {
  configuration: new Set(Object.keys(allSettings.schema.properties)),
  rule: new Set(['title', 'logsource', 'detection', 'status', 'description', 'author', 'date', 'level', 'tags']),
  'judgement table': new Set(Object.keys(judgementSchema.properties)),
  source: new Set(Object.keys(sourceSchema.properties).filter((name) => !sharedNames.has(name))),
  profile: new Set(Object.keys(profileSchema.properties).filter((name) => !sharedNames.has(name))),
  format: new Set(['cut', 'contains', 'separator', 'words', 'variants', 'line', 'when', 'set', 'example']),
}

/** JSON feeds may have `date` and `description` as well. Other JSON files have one of these names. */
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
])

const isJson = (text: string): boolean => /^\s*[{[]/.test(text)

/** Picks the kind with the most matching names, so a file with a typo is still recognised. */
export const recogniseFile = (
  name: string,
  text: string,
  ofParts: readonly FileOfPart[] = [],
): FileKind | undefined => {
  const found = namesIn(text)
  if (isJson(text) && !found.some((one) => certain.has(one) || ofParts.some((part) => part.certain.includes(one))))
    return 'feed'
  const scoreOf = (known: ReadonlySet<string>): number => found.filter((one) => known.has(one)).length
  const scores: readonly (readonly [kind: FileKind, score: number])[] = [
    ...(['configuration', 'rule', 'format', 'source'] as const).map((kind) => [kind, scoreOf(names[kind])] as const),
    ...ofParts.map((kind) => [kind, scoreOf(new Set([...kind.names].filter((one) => !sharedNames.has(one))))] as const),
    ...(['profile', 'judgement table'] as const).map((kind) => [kind, scoreOf(names[kind])] as const),
  ]
  const [best] = scores.toSorted(([, a], [, b]) => b - a)
  if (best !== undefined && best[1] > 0) return best[0]
  const isYaml = /\.ya?ml$/i.test(name)
  if (found.length > 0 && isYaml) return undefined
  return isYaml ? 'configuration' : 'feed'
}

/** Does not parse YAML, so a broken file is still recognised. */
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
