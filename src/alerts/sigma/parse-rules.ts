// Parses a rule file into rules and problems with line numbers.
import type { FileProblem } from '../../domain/problem.js'
import { createHash } from 'node:crypto'
import { isMap as isYamlMap, isNode, isScalar, LineCounter, parseAllDocuments, type Document } from 'yaml'
import { isFlag, operationsStating } from '../annotation-fields.js'
import { closestName } from '../closest-name.js'
import { compileDetection, isMap, type Complain, type YamlPath } from './detection.js'
import { readerNames } from '../event-field.js'
import { compile, type Expression } from './expression.js'
import type { Fields } from './fields.js'
import { fieldsOf, ruleLevels, type Rule, type RuleLevel } from './rule.js'
import { suppressionOf } from './suppression.js'
import { nestsTooDeep } from './yaml-depth.js'

type ParsedRules = {
  readonly rules: readonly Rule[]
  readonly problems: readonly FileProblem[]
  readonly warnings: readonly FileProblem[]
}

type ParseOptions = {
  readonly fields: Fields
  /** The fields of rules with the log source `product: threatweave, service: retro`. */
  readonly retroFields?: Fields
  /** Flags that the configured operations state, if known; a rule that needs another cannot match. */
  readonly stated?: ReadonlySet<string> | undefined
  /** Whether products are known to write a field of this name; without it, fields are not checked. */
  readonly isFieldKnown?: ((field: string) => boolean) | undefined
}

/** YAML errors reported per document; later ones usually follow from the first. */
const maxErrors = 10
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** ECS and OCSF members are added after the rules have run. */
const layered = /^(?:threat\.enrichments|observables|osint)(?:\.|$)/

export const parseRules = (file: string, text: string, options: ParseOptions): ParsedRules => {
  if (nestsTooDeep(text)) return { rules: [], problems: [{ file, message: 'is nested too deep' }], warnings: [] }
  const lines = new LineCounter()
  const rules: Rule[] = []
  const problems: FileProblem[] = []
  const warnings: FileProblem[] = []
  const lineAt = (offset: number): number => lines.linePos(offset).line
  const documents: readonly Document[] = [
    ...parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' }),
  ]
  if (documents.length === 0) problems.push({ file, message: 'contains no rule' })

  for (const document of documents) {
    const line = lineAt(offsetOf(document, []))
    const before = problems.length
    for (const error of document.errors.slice(0, maxErrors))
      problems.push({ file, line: lineAt(error.pos[0]), message: error.message.split('\n')[0] ?? 'is not valid YAML' })
    if (problems.length > before) continue
    const at = (path: YamlPath): number => lineAt(offsetOf(document, path))
    const wrong: Complain = (path, message) => problems.push({ file, line: at(path), message })
    const odd: Complain = (path, message) => warnings.push({ file, line: at(path), message })
    const content = plainOf(document)
    if (content === null && documents.length > 1) continue
    if (!isMap(content)) {
      wrong([], 'a rule must be `name: value` lines')
      continue
    }
    const foreign = ['correlation', 'filter', 'action'].find((name) => name in content)
    if (foreign !== undefined) {
      wrong([foreign], `${foreign} is not supported; each event is tested on its own, by plain rules`)
      continue
    }
    const metadata = metadataOf(content, wrong, odd)
    const isRetro = isAboutSeen(content.logsource)
    const fields = isRetro ? (options.retroFields ?? options.fields) : options.fields
    const suppress = suppressionOf(content.threatweave, fields, wrong)
    if (isRetro && suppress) wrong(['threatweave'], 'a retro rule suppresses nothing: there is one alert per indicator')
    const expression = compileDetection(content.detection, { fields, wrong, odd })
    if (!expression || problems.length > before) continue
    if (isRetro) refuseEventFields(expression, fields, (message) => wrong(['detection'], message))
    else warnIfNeverMatching(expression, options, (message) => odd(['detection'], message))
    if (problems.length > before) continue
    rules.push({
      ...metadata,
      isRetro,
      ...(suppress && { suppress }),
      file,
      line,
      expression,
      holds: compile(expression),
    })
  }
  return { rules, problems, warnings }
}

const isAboutSeen = (logsource: unknown): boolean =>
  isMap(logsource) && logsource.product === 'threatweave' && logsource.service === 'retro'

const refuseEventFields = (expression: Expression, fields: Fields, refuse: (message: string) => void): void => {
  const foreign = fieldsOf({ expression }).filter((field) => fields.memberOf(field) === undefined)
  if (foreign.length > 0)
    refuse(
      `tests ${foreign.join(', ')}, but of past events only counts are kept: a retro rule can test members of threatweave`,
    )
}

/** Too many aliases throw; the message is then rejected as not a rule. */
const plainOf = (document: Document): unknown => {
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
}

type Metadata = Pick<Rule, 'id' | 'title' | 'level' | 'tags' | 'description'>

const metadataOf = (content: Readonly<Record<string, unknown>>, wrong: Complain, odd: Complain): Metadata => {
  const { title, id, level = 'medium', tags, description } = content
  if (typeof title !== 'string' || title === '') wrong(['title'], 'title must be text')
  if (id !== undefined && !(typeof id === 'string' && uuid.test(id))) wrong(['id'], 'id must be a UUID')
  if (id === undefined) odd([], 'has no id; one is derived from its title and changes with it')
  if (!isLevel(level)) wrong(['level'], `level must be one of ${ruleLevels.join(', ')}`)
  if (tags !== undefined && !(Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')))
    wrong(['tags'], 'tags must be a list of texts')
  if (!isMap(content.logsource)) odd([], 'has no logsource, which other Sigma tools require')
  const name = typeof title === 'string' ? title.slice(0, 256) : ''
  return {
    id: typeof id === 'string' ? id.toLowerCase() : idFrom(name),
    title: name,
    level: isLevel(level) ? level : 'medium',
    tags: Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string').slice(0, 32) : [],
    ...(typeof description === 'string' && { description: description.trim().slice(0, 1024) }),
  }
}

const isLevel = (level: unknown): level is RuleLevel => (ruleLevels as readonly unknown[]).includes(level)

/** A UUID of version 8, whose bits are free to choose. */
const idFrom = (title: string): string => {
  const hex = createHash('sha256').update(title).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const warnIfNeverMatching = (
  expression: Expression,
  { fields, stated, isFieldKnown }: ParseOptions,
  warn: (message: string) => void,
): void => {
  const foreign: string[] = []
  for (const field of fieldsOf({ expression })) {
    const member = fields.memberOf(field)
    if (member === undefined) {
      if (layered.test(field)) warn(`tests ${field}, which is added after the rules have run`)
      else if (isFieldKnown && !readerNames.includes(field)) {
        const meant = closestName(field, readerNames)
        if (meant !== undefined)
          warn(`tests ${field}, which no event has unless it has a field of just this name; did you mean ${meant}?`)
        else if (!isFieldKnown(field)) foreign.push(field)
      }
      continue
    }
    if (!isFlag(member) || stated === undefined || stated.has(member)) continue
    const operations = operationsStating(member)
    warn(
      `tests ${field}, which no configured operation states` +
        (operations.length > 0 ? ` (${operations.join(' and ')} would)` : ''),
    )
  }
  if (foreign.length > 0)
    warn(
      `tests ${foreign.join(', ')}, which no event has unless it is JSON, key=value, CEF or LEEF with a field of just this name; threatweave rules test shows whether yours are`,
    )
}

/** The offset of the path's last part: of its key in a map, otherwise of its value; for a missing part, of its parent. */
const offsetOf = (document: Document, path: YamlPath): number => {
  for (let length = path.length; length > 0; length--) {
    const name = path[length - 1]
    const parent: unknown = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true)
    const key = isYamlMap(parent)
      ? parent.items.map((pair) => pair.key).find((one) => isScalar(one) && String(one.value) === String(name))
      : undefined
    const node = key ?? document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return document.contents?.range?.[0] ?? document.range?.[0] ?? 0
}
