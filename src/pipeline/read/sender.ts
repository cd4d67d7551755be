// The address of whoever sent a line to a collector is the observer's, though some collectors call it the source's.
import type { Findings } from './findings.js'

type SenderRow = {
  readonly field: string
  /** What only such a collector writes beside it. A string cannot hold these: its quotation marks are escaped. */
  readonly beside: readonly RegExp[]
}

const rows: readonly SenderRow[] = [
  // Vector: the peer of its syslog source.
  { field: 'source_ip', beside: [/"source_type"\s?:\s?"syslog"/, /"message"\s?:/] },
  // syslog-ng: the macro of that name.
  { field: 'SOURCEIP', beside: [/"HOST_FROM"\s?:/, /"MESSAGE"\s?:/] },
]

/** Before text is searched, for text adds no second source. `text` is the JSON of the event. */
export const settleSender = (findings: Findings, text: string): void => {
  const list = findings.list()
  for (let at = 0; at < list.length; at++) {
    const finding = list[at]
    if (finding?.role !== 'source') continue
    const row = rows.find(({ field }) => field === finding.field)
    if (row?.beside.every((pattern) => pattern.test(text)) === true) findings.outrank(at, 'observer', 'beside:sender')
  }
}
