// The source of a bulk connection: asks this server's own operations about an indicator, as a client asks them over HTTP.
import type { BulkOptions } from '../bulk/accept-bulk.js'
import { shippedTable } from '../domain/judgement-table.js'
import type { OperationName } from '../domain/operations.js'
import type { Priority } from '../lookup/admission/queue.js'
import type { AnswerReader } from '../provider/answer-reader.js'
import type { IsAccused } from '../provider/ask-ip.js'
import type { Reply } from '../provider/client.js'
import { createIsAccused } from '../provider/is-accused.js'
import { providerSource } from '../provider/provider-source.js'
import { ignoreTelemetry } from '../telemetry/event.js'
import type { OperationAnswer } from './answer.js'
import type { RequestParameters } from './parameters.js'

type BulkSourceOptions = {
  /** Answers one operation for the holder of the key, as over HTTP, but waits while the plan allows no further call. */
  readonly answer: (
    name: OperationName,
    given: RequestParameters,
    apiKey: string | undefined,
    priority: Priority,
  ) => Promise<OperationAnswer>
  /** Reads answers in our own words. */
  readonly reader: AnswerReader
  /** By the judgement table of this gateway; absent: by the one that is shipped. */
  readonly isAccused?: IsAccused | undefined
  readonly now: () => number
}

export const bulkSourceOf = ({
  answer,
  reader,
  now,
  isAccused = createIsAccused(shippedTable, now),
}: BulkSourceOptions): BulkOptions['sourceOf'] => {
  return (settings, { apiKey, calling }) => {
    const call = async (name: OperationName, given: RequestParameters): Promise<Reply> =>
      replyOf(await answer(name, given, apiKey, calling(name, given)), reader)
    const domain = { ...settings.domain, scan: 'off', scanPollMs: 0, scanFolder: '' } as const
    return providerSource({ call }, { ...settings, domain }, isAccused, now, ignoreTelemetry)
  }
}

/** The same answer that the asker would have made of it over HTTP. */
const replyOf = (answer: OperationAnswer, ownReader: AnswerReader): Reply => {
  const isFeedMissing = answer.isFeedMissing === true
  const at = answer.at === undefined ? {} : { at: answer.at }
  if (answer.ok) return { status: 'answer', body: answer.body, read: answer.read ?? ownReader, isFeedMissing, ...at }
  const { reason, message, retryAfterS } = answer.failure
  const failure = { reason, detail: message, ...(retryAfterS !== undefined && { afterMs: retryAfterS * 1000 }) }
  return { status: 'failure', failure, isFeedMissing, ...at }
}
