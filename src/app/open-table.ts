// The configured judgement table: the built-in one, or the file that `intel.table` names.
import { readFileSync } from 'node:fs'
import { readJudgementFile } from '../config/judgement-file.js'
import { accepted } from '../config/load-config.js'
import type { Problem } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { shippedTable, type JudgementTable } from '../domain/judgement-table.js'
import { messageOf } from '../base/message-of.js'

type Opened = { readonly table: JudgementTable } | { readonly problems: readonly Problem[] }

export const openTable = ({ intel: { table: name } }: Config): Opened => {
  if (name === '') return { table: shippedTable }
  let text: string
  try {
    text = readFileSync(name, 'utf8')
  } catch (error) {
    return { problems: [{ setting: 'intel.table', message: `cannot be read: ${messageOf(error)}` }] }
  }
  const read = readJudgementFile({ name, text })
  if ('table' in read) return read
  return {
    problems: read.problems.map(({ setting, ...problem }) => ({
      ...problem,
      setting: setting === name ? 'intel.table' : `intel.table: ${setting}`,
    })),
  }
}

/** Throws a ConfigurationError if the table cannot be used. */
export const tableOf = (config: Config): JudgementTable => accepted(openTable(config)).table
