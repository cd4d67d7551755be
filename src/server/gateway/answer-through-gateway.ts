// Answers from local data, and otherwise from the provider.
import type { OperationName } from '../../domain/operations.js'
import { refused, type OperationAnswer, type JsonObject, failures } from '../answer.js'
import type { AnswerOperation } from '../answer-locally.js'
import { firstScanId } from '../scan/scan-store.js'
import type { Gateway } from './gateway.js'
import type { ScanOwners } from './scan-owners.js'
import type { StaysInside } from './stays-inside.js'

/** Accounts and their scans are managed here, because the provider sees only the account of the gateway. */
const staysHere: ReadonlySet<OperationName> = new Set(['user/me', 'domain/reports/personal'])

/** Failures that only mean "not found locally". */
const notHere: ReadonlySet<unknown> = new Set([failures.noSuchScan, failures.scanOff])

export const answerThroughGateway =
  (
    here: AnswerOperation,
    gateway: Gateway,
    owners: ScanOwners,
    stays: StaysInside,
    now: () => number,
  ): AnswerOperation =>
  async (name, values, caller, priority) => {
    const local = await here(name, values, caller, priority)
    if (staysHere.has(name) || (local.ok ? local.isKnown : !notHere.has(local.failure))) return local
    const id = typeof values.id === 'number' ? values.id : undefined
    if (id !== undefined && (id >= firstScanId || !owners.mayRead(id, caller.key.name)))
      return refused(failures.noSuchScan)
    if (stays.question(name, values)) return refused(failures.staysInside)
    const asked = await gateway.ask(name, values, priority, caller.key.name)
    const answer =
      name === 'domain/reports' ? withListings(asked, local) : statesVerdict.has(name) ? withFlags(asked, local) : asked
    if (name === 'domain/scan' || name === 'domain/scan/private') {
      const scanId = scanIdOf(answer)
      if (scanId !== undefined)
        owners.add({
          id: scanId,
          owner: caller.key.name,
          isPrivate: name === 'domain/scan/private',
          query: String(values.query),
          at: now(),
        })
    }
    return answer
  }

const statesVerdict: ReadonlySet<OperationName> = new Set(['ip/malicious-info', 'ip/suspicious_info'])

/** Flags of local lists (Tor, scanner, …) override the provider. */
const withFlags = (answer: OperationAnswer, local: OperationAnswer): OperationAnswer => {
  const issues = local.ok ? Object.entries(objectOf(local.body.issues)).filter(([, value]) => value === true) : []
  if (!answer.ok || issues.length === 0) return answer
  return {
    ...answer,
    body: { ...answer.body, issues: { ...objectOf(answer.body.issues), ...Object.fromEntries(issues) } },
  }
}

/** Adds local listings of hosts below the domain to the answer of the provider. */
const withListings = (answer: OperationAnswer, local: OperationAnswer): OperationAnswer => {
  const here = local.ok ? dataOf(local) : {}
  if (here.listings === undefined) return answer
  if (!answer.ok) return answer.failure.status === 404 ? local : answer
  return { ...answer, body: { ...answer.body, data: { ...dataOf(answer), listings: here.listings } } }
}

const dataOf = ({ body }: { readonly body: JsonObject }): JsonObject => objectOf(body.data)

const objectOf = (value: JsonObject[string]): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}

const scanIdOf = (answer: OperationAnswer): number | undefined => {
  const data = answer.ok ? answer.body.data : undefined
  const id = typeof data === 'object' && data !== null && 'scan_id' in data ? Number(data.scan_id) : NaN
  return Number.isSafeInteger(id) ? id : undefined
}
