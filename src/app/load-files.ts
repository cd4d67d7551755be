// Loads each file that the settings name once, so that all parts of a process work with the same content.
import { readText } from '../config/load-config.js'
import type { Refused } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import type { GateOptions, IndicatorList } from '../domain/decision.js'
import type { JudgementTable } from '../domain/judgement-table.js'
import { loadGate, loadSafeguard } from '../feeds/load-lists.js'
import type { FormatSpec } from '../pipeline/extract/formats.js'
import { loadSources, type ConfiguredSource } from './load-sources.js'
import { openFormats } from './open-formats.js'
import { openTable } from './open-table.js'
import { createLiveList, type LiveList } from './watch-allow.js'

/** The files needed to read and judge events. */
export type ReadingFiles = {
  /** The gate's lists; its `allow` follows `allowed`. */
  readonly gate: GateOptions
  /** gate.allow, which can change while the program runs. */
  readonly allowed: LiveList
  readonly table: JudgementTable
  /** The bundled log formats and the user's own. */
  readonly formats: readonly FormatSpec[]
}

export type Files = ReadingFiles & {
  /** Hosts that a feed must not list as a whole. */
  readonly safeguard: IndicatorList
  /** Other providers and their keys. */
  readonly sources: readonly ConfiguredSource[]
}

export const loadReadingFiles = (config: Config): ReadingFiles | Refused => {
  const gate = loadGate(config.gate, config.intel.domain.ask, readText)
  if ('problems' in gate) return gate
  const judged = openTable(config)
  if ('problems' in judged) return judged
  const opened = openFormats(config.extract.formats)
  if (opened.problems.length > 0)
    return {
      problems: opened.problems.map(({ file, line, message }) => ({
        setting: 'extract.formats',
        message,
        where: line === undefined ? file : `${file}:${line}`,
      })),
    }
  const allowed = createLiveList(gate.options.allow)
  return { gate: { ...gate.options, allow: allowed.list }, allowed, table: judged.table, formats: opened.formats }
}

export const loadFiles = (config: Config): Files | Refused => {
  const reading = loadReadingFiles(config)
  return 'problems' in reading ? reading : addIntelligenceFiles(config, reading)
}

/** For commands that need the files for lookups later than those for reading. */
export const addIntelligenceFiles = (config: Config, reading: ReadingFiles): Files | Refused => {
  const safeguard = loadSafeguard(config.intel.safeguard, readText)
  if ('problems' in safeguard) return safeguard
  const sources = loadSources(config)
  return 'problems' in sources ? sources : { ...reading, safeguard, sources }
}
