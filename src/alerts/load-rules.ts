// Loads rules from files and folders.
import type { FileProblem } from '../domain/problem.js'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { packageFolder } from '../base/package-folder.js'
import { retroMembers } from './annotation-fields.js'
import { createFields } from './sigma/fields.js'
import { parseRules } from './sigma/parse-rules.js'
import type { Rule } from './sigma/rule.js'
import { createRuleSet, type RuleSet } from './sigma/rule-set.js'

export type RuleSource = {
  /** Files and folders; folders are searched for .yml and .yaml files. */
  readonly paths: readonly string[]
  /** Whether to load the bundled rules; a rule with the same id replaces a bundled one. */
  readonly bundled: boolean
  /** The annotation key of the output. */
  readonly key: string
  /** Flags that the configured operations state, if known. */
  readonly stated?: ReadonlySet<string> | undefined
  /** Whether products are known to write a field of this name; without it, fields are not checked. */
  readonly isFieldKnown?: (field: string) => boolean
}

export type LoadedRules = {
  /** Rules without problems that are about events. */
  readonly set: RuleSet
  /** Rules about indicators that turn malicious after they were seen. */
  readonly retro: RuleSet
  /** Both kinds of rules. */
  readonly rules: readonly Rule[]
  readonly files: number
  readonly problems: readonly FileProblem[]
  readonly warnings: readonly FileProblem[]
  /** Changes when a file changes. */
  readonly signature: string
}

export const bundledFolder = join(packageFolder, 'rules')

const maxFiles = 10_000
const maxFileBytes = 1_048_576

export const loadRules = async (source: RuleSource): Promise<LoadedRules> => {
  const { key, stated, isFieldKnown } = source
  const found = await findRuleFiles(source)
  const fields = createFields(key)
  const retroFields = createFields(key, retroMembers)
  const rules = new Map<string, Rule>()
  const problems: FileProblem[] = [...found.problems]
  const warnings: FileProblem[] = []
  for (const file of found.files) {
    const text = await readRuleFile(file)
    if (typeof text !== 'string') {
      problems.push(text)
      continue
    }
    const parsed = parseRules(file, text, { fields, retroFields, stated, isFieldKnown })
    problems.push(...parsed.problems)
    warnings.push(...parsed.warnings)
    for (const rule of parsed.rules) {
      const other = rules.get(rule.id)
      if (other && (file.startsWith(bundledFolder) || !other.file.startsWith(bundledFolder)))
        problems.push({ file, line: rule.line, message: `has the same id as ${other.file}:${other.line}` })
      else rules.set(rule.id, file.startsWith(bundledFolder) || other ? { ...rule, isBundled: true } : rule)
    }
  }
  const list = [...rules.values()]
  return {
    set: createRuleSet(
      list.filter(({ isRetro }) => !isRetro),
      fields,
    ),
    retro: createRuleSet(
      list.filter(({ isRetro }) => isRetro),
      retroFields,
    ),
    rules: list,
    files: found.files.length,
    problems,
    warnings,
    signature: found.signature,
  }
}

const readRuleFile = async (file: string): Promise<string | FileProblem> => {
  try {
    const text = await readFile(file, 'utf8')
    return text.length <= maxFileBytes ? text : { file, message: `is larger than ${maxFileBytes} bytes` }
  } catch (error) {
    return { file, message: `cannot be read: ${reasonOf(error)}` }
  }
}

type Found = {
  readonly files: readonly string[]
  readonly problems: readonly FileProblem[]
  readonly signature: string
}

/** In the order of the settings, then by name; each file once. */
export const findRuleFiles = async ({ paths, bundled }: Pick<RuleSource, 'paths' | 'bundled'>): Promise<Found> => {
  const files = new Map<string, string>()
  const signatures: string[] = []
  const problems: FileProblem[] = []
  const visit = async (path: string, isNamed: boolean): Promise<void> => {
    try {
      const about = await stat(path, { bigint: true })
      if (about.isDirectory()) {
        const names = (await readdir(path)).filter((name) => !name.startsWith('.')).toSorted()
        for (const name of names) await visit(join(path, name), false)
      } else if (isNamed || /\.ya?ml$/i.test(path)) {
        if (files.size >= maxFiles) throw new Error(`more than ${maxFiles} rule files`)
        const real = await realpath(path)
        if (!files.has(real)) signatures.push([path, about.dev, about.ino, about.size, about.mtimeNs].join(' '))
        if (!files.has(real)) files.set(real, path)
      }
    } catch (error) {
      signatures.push(`${path} ${reasonOf(error)}`)
      problems.push({ file: path, message: `cannot be read: ${reasonOf(error)}` })
    }
  }
  for (const path of [...(bundled ? [bundledFolder] : []), ...paths]) await visit(path, true)
  return { files: [...files.values()], problems, signature: signatures.join('\n') }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unreadable')
