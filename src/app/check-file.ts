// Checks a rule, log format, source or profile with its examples, a judgement table, a feed, or a file kind of a part.
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { flagsStatedBy } from '../alerts/annotation-fields.js'
import { loadRules, type LoadedRules } from '../alerts/load-rules.js'
import { readJudgementFile } from '../config/judgement-file.js'
import { readFormatFiles } from '../config/format-files.js'
import type { Problem } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { readSourceFile } from '../config/source-file.js'
import { asUtf8 } from '../base/utf16.js'
import { messageOf } from '../base/message-of.js'
import { describeEntries, entriesIn, type EntryCounts } from '../domain/entry-counts.js'
import { describeSkipped, skippedIn } from '../domain/skipped.js'
import { whyEmpty } from '../feeds/status.js'
import { openFeeds } from '../feeds/open-feeds.js'
import { askedOperations } from './open-alerting.js'
import { openFormats } from './open-formats.js'
import { createFieldOf } from '../pipeline/extract/field.js'
import { readProfileFile } from '../config/profile-file.js'
import { wrongProfileExamples } from '../provider/wrong-profile-examples.js'
import { bundledProfile } from './open-profile.js'
import type { FileOfPart } from './part.js'
import { parts } from './parts.js'
import { wrongExamples } from '../provider/wrong-source-examples.js'
import type { CheckedFile } from '../terminal/report-remarks.js'
import { recogniseFile, type FileKind } from './recognise-file.js'

/** A folder is either a MISP feed, or of the kind of its first rule or format. */
export const kindOfFile = async (path: string): Promise<FileKind | { readonly problem: string }> => {
  const ofParts: FileOfPart[] = []
  for (const { files } of parts) ofParts.push(...((await files?.()) ?? []))
  try {
    if (statSync(path).isDirectory())
      return statSync(join(path, 'manifest.json'), { throwIfNoEntry: false }) ? 'feed' : kindOfFolder(path)
    const bytes = readFileSync(path)
    // Only feeds may be compressed with gzip.
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'feed'
    const kinds = [
      ...['configuration', 'Sigma rule', 'log format', 'source', 'profile', 'judgement table'],
      ...ofParts.map(({ kind }) => kind),
    ]
    const problem = `is not a ${kinds.join(', ')} or feed: it has none of their names`
    return recogniseFile(path, asUtf8(bytes).toString('utf8'), ofParts) ?? { problem }
  } catch (error) {
    return { problem: `cannot be read: ${messageOf(error)}` }
  }
}

const kindOfFolder = (path: string): FileKind | { readonly problem: string } => {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' })
  for (const name of names.filter((one) => /\.ya?ml$/i.test(one)).toSorted()) {
    const kind = recogniseFile(name, readFileSync(join(path, name), 'utf8'))
    if (kind === 'rule' || kind === 'format') return kind
  }
  return { problem: 'is a folder without a Sigma rule or log format (.yml, .yaml)' }
}

export const checkFile = (
  kind: Exclude<FileKind, 'configuration'>,
  path: string,
  config: Config,
): Promise<CheckedFile> => {
  if (typeof kind === 'object') return Promise.resolve(checkOfPart(kind, path))
  switch (kind) {
    case 'rule':
      return checkRules([path], config)
    case 'format':
      return checkFormat(path, config)
    case 'source':
      return Promise.resolve(checkSource(path))
    case 'profile':
      return Promise.resolve(checkProfile(path))
    case 'judgement table':
      return Promise.resolve(checkJudgement(path))
    case 'feed':
      return checkFeed(path, config)
  }
}

const checkJudgement = (path: string): CheckedFile => {
  const read = readJudgementFile({ name: path, text: readFileSync(path, 'utf8') })
  const problems = 'problems' in read ? read.problems : []
  return { what: `a judgement table, ${count(problems.length, 'error')}`, remarks: errorsOf(problems, path) }
}

const errorsOf = (problems: readonly Problem[], path: string): CheckedFile['remarks'] =>
  problems.map(({ setting, message, where }) => ({
    kind: 'error' as const,
    file: path,
    ...(/:\d+$/.test(where ?? '') && { line: Number(where?.split(':').at(-1)) }),
    message: setting === path ? message : `${setting} ${message}`,
  }))

/** Runs the source's examples and lists its restrictions of use. */
const checkSource = (path: string): CheckedFile => {
  const read = readSourceFile({ name: path, text: readFileSync(path, 'utf8') })
  if ('problems' in read)
    return { what: `a source, ${count(read.problems.length, 'error')}`, remarks: errorsOf(read.problems, path) }
  const { source, placeOf } = read
  const wrong = wrongExamples(source)
  const note = (message: string) => ({ kind: 'note' as const, file: path, message })
  const limits = source.limits.map(({ calls, per }) => `${calls} calls per ${per}`).join(', ')
  return {
    what: `source ${source.id}, ${count(source.examples.length, 'example')}, ${count(wrong.length, 'error')}`,
    remarks: [
      ...errorsOf(
        wrong.map(({ nth, message }) => {
          const setting = `examples.${nth}`
          return { setting, message, where: placeOf(setting) ?? path }
        }),
        path,
      ),
      ...(source.examples.length === 0
        ? [{ kind: 'warning' as const, file: path, message: 'has no examples, so nothing shows that it reads answers' }]
        : []),
      note(`${source.name} is asked about ${Object.keys(source.ask).join(' and ')}; ${limits || 'no limit is named'}`),
      note(`terms of use: ${source.terms.note} ${source.terms.url}`),
    ],
  }
}

const checkOfPart = ({ check }: FileOfPart, path: string): CheckedFile => {
  const { what, problems, notes } = check(path)
  return {
    what: `${what}, ${count(problems.length, 'error')}`,
    remarks: [...errorsOf(problems, path), ...notes.map((message) => ({ kind: 'note' as const, file: path, message }))],
  }
}

/** Overlays the bundled profile, like `intel.service.profile`. */
const checkProfile = (path: string): CheckedFile => {
  const read = readProfileFile({ name: path, text: readFileSync(path, 'utf8') }, bundledProfile())
  if ('problems' in read)
    return { what: `a profile, ${count(read.problems.length, 'error')}`, remarks: errorsOf(read.problems, path) }
  const { profile, placeOf } = read
  const wrong = wrongProfileExamples(profile).map(({ nth, message }) => {
    const setting = `examples.${nth}`
    return { setting, message, where: placeOf(setting) ?? path }
  })
  return {
    what: `a profile of ${profile.name}, ${count(profile.examples.length, 'example')}, ${count(wrong.length, 'error')}`,
    remarks: [
      ...errorsOf(wrong, path),
      ...(profile.examples.length === 0
        ? [{ kind: 'warning' as const, file: path, message: 'has no examples, so nothing shows that it reads answers' }]
        : []),
    ],
  }
}

/** Without paths, loads the configured rules. */
export const loadConfiguredRules = (
  paths: readonly string[],
  config: Config,
  isFieldKnown?: (field: string) => boolean,
): Promise<LoadedRules> =>
  loadRules({
    ...(isFieldKnown && { isFieldKnown }),
    paths: paths.length > 0 ? paths : config.alerts.rules,
    bundled: paths.length === 0 && config.alerts.bundled,
    key: config.output.key,
    // Sources report flags too, so with sources the possible flags are not known.
    stated:
      config.intel.service.apiKey === '' || config.intel.sources.length > 0
        ? undefined
        : flagsStatedBy(askedOperations(config)),
  })

export const checkRules = async (paths: readonly string[], config: Config): Promise<CheckedFile> => {
  const { problems, warnings, rules, files } = await loadConfiguredRules(paths, config, isKnownField)
  return {
    what: `${count(files, 'file')}, ${count(rules.length, 'usable rule')}, ${count(problems.length, 'error')}, ${count(warnings.length, 'warning')}`,
    remarks: [
      ...problems.map((problem) => ({ kind: 'error' as const, ...problem })),
      ...warnings.map((warning) => ({ kind: 'warning' as const, ...warning })),
    ],
  }
}

/** Whether a known product writes this field. */
const isKnownField = (field: string): boolean => fieldOf(field).rule !== 'field'
const fieldOf = createFieldOf()

/** Checks the format together with all others, because no line may match two formats. */
const checkFormat = (path: string, { extract }: Config): Promise<CheckedFile> => {
  const others = new Set(openFormats(extract.formats).problems.map((one) => JSON.stringify(one)))
  const { problems } = openFormats([...extract.formats, path])
  const remarks = problems
    .filter((one) => !others.has(JSON.stringify(one)) || isWithin(one.file, path))
    .map((problem) => ({ kind: 'error' as const, ...problem }))
  const formats = readFormatFiles([path]).documents.length
  return Promise.resolve({ what: `${count(formats, 'format')}, ${count(remarks.length, 'error')}`, remarks })
}

/** Uses the configured feed settings if the configuration names this file. */
const checkFeed = async (path: string, { feeds }: Config): Promise<CheckedFile> => {
  const settings = feeds.find((feed) => feed.path !== undefined && isSame(feed.path, path)) ?? {
    name: 'feed',
    path,
    level: 'malicious' as const,
    categories: [],
  }
  const opened = await openFeeds([settings], { pollMs: 0 })
  await opened.close()
  const [status] = opened.status()
  if (status?.problem) return { what: 'a refused feed', remarks: [{ kind: 'error', ...status.problem }] }
  const { skipped = {}, examples = [] } = status ?? {}
  const entries = status ?? noEntries
  const all = skippedIn(skipped)
  const empty = { kind: 'error' as const, file: path, message: whyEmpty(skipped) }
  return {
    what: `a feed of ${describeEntries(entries)}${all > 0 ? `; ${all} skipped: ${describeSkipped(skipped)}` : ''}`,
    remarks: [
      ...examples.map(({ why, ...example }) => ({
        kind: why === 'broken' ? ('error' as const) : ('warning' as const),
        ...example,
      })),
      ...(entriesIn(entries) === 0 ? [empty] : []),
    ],
  }
}

const noEntries: EntryCounts = { addresses: 0, endpoints: 0, names: 0, urls: 0 }

const realOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path // missing; reported when it is read
  }
}
const isSame = (one: string, other: string): boolean => realOf(one) === realOf(other)
const isWithin = (file: string, folder: string): boolean =>
  isSame(file, folder) || realOf(file).startsWith(realOf(folder) + sep)

const count = (number: number, noun: string, plural = 's'): string => `${number} ${noun}${number === 1 ? '' : plural}`
