// Loads the list files named in the settings for the gate and the feeds, or returns every problem at once.
import { join } from 'node:path'
import { packageFolder } from '../base/package-folder.js'
import type { SettingProblem } from '../domain/problem.js'
import { parseRange } from '../domain/address.js'
import type { GateOptions, IndicatorList } from '../domain/decision.js'
import { parseSuffix } from '../domain/hostname.js'
import { createNameSet, type NameSet } from '../domain/name-set.js'
import { createRangeSet } from '../domain/range-set.js'
import { readListFile, type Listed, type ListEntries } from './list-file.js'
import { whyWithoutEffect } from './without-effect.js'

type GateSettings = {
  readonly ownRanges: readonly string[]
  readonly internalSuffixes: readonly string[]
  readonly publicSuffixes?: readonly string[]
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly askFreeText: boolean
  readonly documentation?: boolean
}
type LoadedGate = { readonly options: GateOptions } | { readonly problems: readonly SettingProblem[] }

type Fail = (problem: SettingProblem) => void

const loadList = (
  setting: string,
  given: readonly (string | readonly string[])[],
  readFile: (path: string) => string,
  fail: Fail,
  whyNot?: (listed: Listed) => string | undefined,
): ListEntries => {
  const lists: ListEntries[] = []
  const files = given.flatMap((names, i) => [names].flat().map((file) => ({ file, here: `${setting}.${String(i)}` })))
  for (const { file, here } of files) {
    let content: string
    try {
      content = readFile(file)
    } catch (error) {
      fail({
        setting: here,
        message: `cannot be read: ${error instanceof Error ? error.message : 'unreadable'}`,
        where: file,
      })
      continue
    }
    const read = readListFile(file, content, whyNot)
    if ('problems' in read) for (const problem of read.problems) fail({ setting: here, ...problem })
    else {
      lists.push(read)
      if (read.expiring.length > 0 && setting !== 'gate.allow')
        fail({ setting: here, message: 'has an entry with until: only entries of gate.allow may expire', where: file })
    }
  }
  return {
    ranges: lists.flatMap(({ ranges }) => ranges),
    names: lists.flatMap(({ names }) => names),
    patterns: lists.flatMap(({ patterns }) => patterns),
    expiring: lists.flatMap(({ expiring }) => expiring),
  }
}

const toList = ({ ranges, names, patterns, expiring }: ListEntries): IndicatorList => {
  const set = createNameSet(names)
  const isMatched = (name: string): boolean => patterns.some((matches) => matches(name))
  return {
    ranges: createRangeSet(ranges),
    names:
      patterns.length === 0
        ? set
        : { size: set.size + patterns.length, has: (name) => set.has(name) || isMatched(name) },
    expiring: expiring.map((entry) => ({
      until: entry.until,
      ranges: createRangeSet(entry.ranges),
      names: createNameSet(entry.names),
    })),
  }
}

/** A denied name covers everything below it, however it is written. */
const withAllBelow = (list: ListEntries): ListEntries => ({
  ...list,
  names: list.names.map(({ name }) => ({ name, below: true })),
})

const parseAll = <Value>(
  setting: string,
  texts: readonly string[],
  parse: (text: string) => Value | undefined,
  message: string,
  fail: Fail,
): Value[] =>
  texts.flatMap((text, i) => {
    const value = parse(text)
    if (value !== undefined) return [value]
    fail({ setting: `${setting}.${String(i)}`, message })
    return []
  })

/** `domainAsk` is the setting intel.domain.ask. */
export const loadGate = (
  settings: GateSettings,
  domainAsk: GateOptions['domainAsk'],
  readFile: (path: string) => string,
): LoadedGate => {
  const problems: SettingProblem[] = []
  const fail: Fail = (problem) => void problems.push(problem)
  const ownRanges = parseAll('gate.ownRanges', settings.ownRanges, parseRange, 'must be an address or a range', fail)
  const suffixesOf = (setting: 'internalSuffixes' | 'publicSuffixes'): NameSet => {
    const given = settings[setting] ?? []
    const suffixes = parseAll(`gate.${setting}`, given, parseSuffix, 'must be a domain name', fail)
    return createNameSet(suffixes.map((name) => ({ name, below: true })))
  }
  const suffixes = {
    internalSuffixes: suffixesOf('internalSuffixes'),
    publicSuffixes: suffixesOf('publicSuffixes'),
  }
  const denied = withAllBelow(loadList('gate.deny', settings.deny, readFile, fail))
  const others = { ...suffixes, deny: toList(denied) }
  const whyNot = whyWithoutEffect({ ...others, own: [...ownRanges, ...denied.ranges] })
  const options: GateOptions = {
    ...others,
    ownRanges: createRangeSet(ownRanges),
    allow: toList(loadList('gate.allow', settings.allow, readFile, fail, whyNot)),
    askFreeText: settings.askFreeText,
    documentation: settings.documentation ?? false,
    domainAsk,
  }
  return problems.length > 0 ? { problems } : { options }
}

/** The name of the bundled lists in the settings, and their files. */
const bundled = 'bundled'
const bundledFiles = ['shared-hosts.txt', 'shared-edges.txt'].map((name) => join(packageFolder, 'lists', name))

/** The indicators that feeds must not accuse: the bundled shared hosts, public resolvers and shared edges, plus the user's lists. */
export const loadSafeguard = (
  lists: readonly string[],
  readFile: (path: string) => string,
): IndicatorList | { readonly problems: readonly SettingProblem[] } => {
  const problems: SettingProblem[] = []
  const files = lists.map((file) => (file === bundled ? bundledFiles : file))
  const entries = loadList('intel.safeguard', files, readFile, (problem) => void problems.push(problem))
  return problems.length > 0 ? { problems } : toList(entries)
}
