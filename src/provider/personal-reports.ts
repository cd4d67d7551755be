// The reports of the account's own scans: one list for all names, read page by page and refreshed every ten minutes.
import type { Answered, HostReport, Unknown } from '../domain/finding.js'
import type { Call } from '../domain/lookup.js'
import { transmit, type CallContext } from './transmit.js'

const againMs = 600_000
const maxPages = 10
const operation = 'domain/reports/personal'

type Rows = { readonly rows: readonly HostReport[]; readonly at: number }

export const createPersonalReports = (
  context: CallContext,
): ((domain: string, call: Call) => Promise<Answered | Unknown>) => {
  let known: Rows | undefined
  let reading: Promise<Rows | Unknown> | undefined
  return async (domain, call) => {
    if (!known || context.now() - known.at >= againMs) {
      reading ??= readPages(context, call).finally(() => (reading = undefined))
      const read = await reading
      if ('status' in read) return read
      known = read
    }
    const newest = new Map<string, HostReport>()
    for (const row of known.rows) {
      const { host, at = 0 } = row
      if ((host === domain || host.endsWith(`.${domain}`)) && at >= (newest.get(host)?.at ?? 0)) newest.set(host, row)
    }
    if (newest.size === 0) return { operation, at: known.at }
    return { operation, at: known.at, facts: { flags: {}, categories: [], domain, hosts: [...newest.values()] } }
  }
}

const readPages = async (context: CallContext, call: Call): Promise<Rows | Unknown> => {
  const rows: HostReport[] = []
  const at = context.now()
  for (let page = 0; page < maxPages; page++) {
    const parameters = { offset: rows.length, show_private: true }
    const answer = await transmit(context, call, operation, parameters)
    if (answer.status === 'unknown') {
      if (answer.reason === 'not_found') break
      return answer
    }
    const more = answer.read.reportRows(answer.body, at)
    rows.push(...more)
    if (more.length < pageSize) break
  }
  return { rows, at }
}

/** A shorter page is the last one. */
const pageSize = 10
