// Turns the list files that settings name into what the gate and the feeds decide by, or every problem at once.
import { parseRange, type Range } from '../domain/address.js'
import type { GateOptions, IndicatorList } from '../domain/decision.js'
import { parseSuffix } from '../domain/hostname.js'
import { createNameSet, type NameEntry } from '../domain/name-set.js'
import { createRangeSet } from '../domain/range-set.js'
import { readListFile, type ListEntries } from './list-file.js'
import { sharedHosts } from './shared-hosts.js'

export type GateSettings = {
  readonly ownRanges: readonly string[]
  readonly internalSuffixes: readonly string[]
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly askFreeText: boolean
  readonly documentation?: boolean
}
export type GateProblem = { readonly setting: string; readonly message: string; readonly where?: string }
export type LoadedGate = { readonly options: GateOptions } | { readonly problems: readonly GateProblem[] }

type Fail = (problem: GateProblem) => void

const loadList = (
  setting: string,
  files: readonly string[],
  readFile: (path: string) => string,
  fail: Fail,
): ListEntries => {
  const ranges: Range[] = []
  const names: NameEntry[] = []
  files.forEach((file, i) => {
    const here = `${setting}.${String(i)}`
    let content: string
    try {
      content = readFile(file)
    } catch (error) {
      fail({
        setting: here,
        message: `cannot be read: ${error instanceof Error ? error.message : 'unreadable'}`,
        where: file,
      })
      return
    }
    const read = readListFile(file, content)
    if ('problems' in read) for (const problem of read.problems) fail({ setting: here, ...problem })
    else {
      for (const range of read.ranges) ranges.push(range)
      for (const name of read.names) names.push(name)
    }
  })
  return { ranges, names }
}

const toList = ({ ranges, names }: ListEntries): IndicatorList => ({
  ranges: createRangeSet(ranges),
  names: createNameSet(names),
})

/** A name that must never leave takes everything below it along, however it is written. */
const withAllBelow = ({ ranges, names }: ListEntries): ListEntries => ({
  ranges,
  names: names.map(({ name }) => ({ name, below: true })),
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
  const problems: GateProblem[] = []
  const fail: Fail = (problem) => void problems.push(problem)
  const ownRanges = parseAll('gate.ownRanges', settings.ownRanges, parseRange, 'must be an address or a range', fail)
  const suffixes = parseAll(
    'gate.internalSuffixes',
    settings.internalSuffixes,
    parseSuffix,
    'must be a domain name',
    fail,
  )
  const options: GateOptions = {
    ownRanges: createRangeSet(ownRanges),
    internalSuffixes: createNameSet(suffixes.map((name) => ({ name, below: true }))),
    allow: toList(loadList('gate.allow', settings.allow, readFile, fail)),
    deny: toList(withAllBelow(loadList('gate.deny', settings.deny, readFile, fail))),
    askFreeText: settings.askFreeText,
    documentation: settings.documentation ?? false,
    domainAsk,
  }
  return problems.length > 0 ? { problems } : { options }
}

/** What stands in the setting for the list that comes with the program. */
const bundled = 'bundled'

/** The hosts that a listed URL says nothing about: the bundled list of shared hosts, and whatever lists the user has. */
export const loadSafeguard = (
  lists: readonly string[],
  readFile: (path: string) => string,
): IndicatorList | { readonly problems: readonly GateProblem[] } => {
  const problems: GateProblem[] = []
  const read = (file: string): string => (file === bundled ? sharedHosts.join('\n') : readFile(file))
  const entries = loadList('intel.safeguard', lists, read, (problem) => void problems.push(problem))
  return problems.length > 0 ? { problems } : toList(entries)
}
