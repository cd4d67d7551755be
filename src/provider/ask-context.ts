// Fetches context for alerts: each chosen operation once, for analysts, without effect on the verdict.
import type { Clock } from '../base/clock.js'
import { shortened, type AlertContext, type ContextOperation } from '../domain/alert-context.js'
import type { Indicator } from '../domain/indicator.js'
import type { OperationName } from '../domain/operations.js'
import type { Reason } from '../domain/reason.js'
import type { Emit } from '../telemetry/event.js'
import type { Client, ProviderAnswer } from './client.js'

type ContextDependencies = {
  readonly client: Pick<Client, 'callNamed' | 'reader'>
  readonly operations: readonly ContextOperation[]
  /** Whether another call is allowed; counts it if so. */
  readonly mayCall: () => boolean
  readonly clock: Clock
  readonly emit: Emit
}

const attempts = 3
const againMs = 5_000
const mostAgainMs = 60_000
const passing: ReadonlySet<Reason> = new Set<Reason>(['busy', 'throttled', 'unavailable', 'timeout'])

/** Resolves to undefined if no operation had an answer. */
export const createAskContext =
  ({ client, operations, mayCall, clock, emit }: ContextDependencies) =>
  async ({ type, value }: Indicator, vulnerabilities: readonly string[]): Promise<AlertContext | undefined> => {
    const ask = async (
      operation: OperationName,
      given: Record<string, unknown>,
    ): Promise<ProviderAnswer | undefined> => {
      for (let attempt = 1; mayCall(); attempt++) {
        const from = clock.now()
        const reply = await client.callNamed(operation, given)
        const ms = clock.now() - from
        if (reply.status === 'answer') {
          emit({ event: 'provider_answered', operation, ms })
          return reply
        }
        const { reason, detail, afterMs = againMs } = reply.failure
        emit({ event: 'provider_call_failed', operation, reason, detail, ms })
        if (attempt === attempts || !passing.has(reason) || afterMs > mostAgainMs) return undefined
        await new Promise<void>((resolve) => clock.after(afterMs, resolve))
      }
      return undefined
    }
    const reportOf = async (name: string): Promise<unknown> => {
      const reports = await ask('domain/reports', { query: name })
      const rows = reports ? client.reader.reportRows(reports.body, clock.now()) : []
      const [newest] = rows
        .filter(({ host, scanId }) => scanId !== undefined && (host === name || host.endsWith(`.${name}`)))
        .toSorted((one, other) => (other.at ?? 0) - (one.at ?? 0))
      return newest && (await ask('domain/report', { id: newest.scanId }))?.body
    }
    const exploits = async (): Promise<unknown> => {
      const found: Record<string, unknown> = {}
      for (const id of vulnerabilities) {
        const answer = await ask('exploit/search', { query: `cve_id:${id}` })
        if (answer) found[id] = answer.body.data
      }
      return Object.keys(found).length > 0 ? found : undefined
    }
    const isAddress = type === 'ip'
    const answerOf: { readonly [operation in ContextOperation]: () => Promise<unknown> } = {
      'ip/data': async () => (isAddress ? (await ask('ip/data', { ip: value }))?.body : undefined),
      'banner/search': async () =>
        isAddress ? (await ask('banner/search', { query: `ip:${value}` }))?.body : undefined,
      'banner/stats': async () => (isAddress ? (await ask('banner/stats', { query: `ip:${value}` }))?.body : undefined),
      'domain/report': async () => (isAddress ? undefined : reportOf(value)),
      'exploit/search': exploits,
    }
    const answers: { [operation in ContextOperation]?: unknown } = {}
    for (const operation of operations) {
      const answer = await answerOf[operation]()
      if (answer !== undefined) answers[operation] = shortened(answer)
    }
    return Object.keys(answers).length > 0 ? { obtained_at: new Date(clock.now()).toISOString(), answers } : undefined
  }
