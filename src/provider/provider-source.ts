// The provider as the innermost lookup layer: selects the operations for addresses and names.
import { whileFeedMissing, type Answered } from '../domain/finding.js'
import type { Call, Former, Source } from '../domain/lookup.js'
import type { Emit } from '../telemetry/event.js'
import { createAskDomain, type DomainSettings } from './ask-domain.js'
import { createAskIp, type AddressSettings, type IsAccused } from './ask-ip.js'
import type { Client } from './client.js'
import { createStartedScans } from './started-scans.js'
import { createStepScan } from './scan.js'
import type { CallContext } from './transmit.js'

export type SourceSettings = {
  readonly ip: AddressSettings
  readonly domain: DomainSettings & {
    readonly scan: 'off' | 'private' | 'public'
    readonly scanPollMs: number
    /** The folder that records started scans. */
    readonly scanFolder: string
  }
}

export const providerSource = (
  client: Pick<Client, 'call'>,
  settings: SourceSettings,
  isAccused: IsAccused,
  now: () => number,
  emit: Emit,
): Source => {
  const context: CallContext = { client, now, emit }
  const askIp = createAskIp(context, settings.ip, isAccused)
  const askDomain = createAskDomain(context, settings.domain, scanOf(context, settings.domain))
  return async ({ type, value }, { former }, call) => {
    const kept = former && answersSince(former)
    const answered = { isFeedMissing: false }
    const noting: Call = (request) =>
      call(async () => {
        const answer = await request()
        if ('isFeedMissing' in answer && answer.isFeedMissing === true) answered.isFeedMissing = true
        return answer
      })
    const finding = await (type === 'ip' ? askIp(value, noting, kept) : askDomain(value, noting, kept))
    const shown = answered.isFeedMissing ? whileFeedMissing(finding) : finding
    return shown.operations === undefined ? shown : { ...shown, operations: sameList(shown.operations) }
  }
}

/** Answers that are still fresh. A finding stored by an earlier version has all answers as one. */
const answersSince = ({ finding, since }: Former): readonly Answered[] => {
  const { at = 0, operations = [] } = finding
  if (finding.status === 'unknown' || finding.isFeedMissing === true) return []
  const { facts } = finding
  const answers =
    finding.answers ?? operations.map((operation, nth) => ({ operation, at, ...(nth === 0 && { facts }) }))
  return answers.filter((answer) => answer.at > since)
}

const lists = new Map<string, readonly string[]>()

/** Shares one array per set of operations, because the memory holds a hundred thousand findings. */
const sameList = (operations: readonly string[]): readonly string[] => {
  const text = operations.join()
  const same = lists.get(text)
  if (same) return same
  lists.set(text, operations)
  return operations
}

const scanOf = (context: CallContext, { scan, scanPollMs, scanFolder, maxAgeDays }: SourceSettings['domain']) =>
  scan === 'off'
    ? undefined
    : createStepScan(
        context,
        { visibility: scan, pollMs: scanPollMs, againAfterMs: maxAgeDays * 86_400_000 },
        createStartedScans(scanFolder),
      )
