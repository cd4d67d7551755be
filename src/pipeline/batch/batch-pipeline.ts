// Extends a pipeline to records of many events: sends each member through as an event and joins the results into one record.
import type { EventIn, EventOut } from '../event.js'
import type { Pipeline, PrepareRecords, Use } from '../pipeline.js'
import type { Wait } from '../enrich/wait.js'
import type { Batch, CutBatch } from './cut-batch.js'
import type { JoinBatch } from './join-batch.js'
import { readableMember } from '../otlp/readable-log-record.js'
import { readableRecord } from './readable-record.js'

type BatchSteps = {
  readonly cut: CutBatch
  readonly prepare?: PrepareRecords | undefined
  readonly join: JoinBatch
  /** The default wait. */
  readonly wait: Wait
}

/** The number of events between yields to the event loop. */
export const sliceEvents = 64

export const createBatchPipeline = (pipeline: Pipeline, { cut, prepare, join, wait: usual }: BatchSteps): Pipeline => {
  /** Starts all lookups before waiting for any, as with single events. */
  const runMembers = async (
    chunk: readonly EventIn[],
    batches: readonly (Batch | undefined)[],
    use: Use,
    wait: Wait | undefined,
  ): Promise<boolean> => {
    const started: Promise<boolean>[] = []
    let slice: EventIn[] = []
    let uses: ((event: EventOut) => void)[] = []
    const start = async (): Promise<void> => {
      const finished = uses
      started.push(Promise.resolve(pipeline(slice, (event, nth) => finished[nth]?.(event), wait)))
      slice = []
      uses = []
      await (wait ?? usual).turn()
    }
    for (const [place, given] of chunk.entries()) {
      const batch = batches[place]
      if (batch) {
        const members: EventOut[] = []
        let missing = batch.members.length
        for (let nth = 0; nth < batch.members.length; nth++) {
          slice.push(memberOf(given, batch, nth))
          uses.push((event) => {
            members[nth] = event
            if (--missing === 0) use(join(given, batch, members), place)
          })
          if (slice.length >= sliceEvents) await start()
        }
      } else {
        slice.push(given)
        uses.push((event) => use(event, place))
        if (slice.length >= sliceEvents) await start()
      }
    }
    if (slice.length > 0) await start()
    return (await Promise.all(started)).every((isWanted) => isWanted)
  }

  const run: Pipeline = (chunk, use, wait) => {
    let batches: (Batch | undefined)[] | undefined
    for (let place = 0; place < chunk.length; place++) {
      const { bytes, batch = cut(bytes) } = chunk[place] as EventIn
      if (batch) (batches ??= [])[place] = batch
    }
    return batches ? runMembers(chunk, batches, use, wait) : pipeline(chunk, use, wait)
  }
  return Object.assign(run, { cut, ...(prepare && { prepare }) })
}

const isMember = /#\d+$/

const memberOf = (given: EventIn, batch: Batch, nth: number): EventIn => {
  const { origin, time, key, former, formers, isFree } = given
  return {
    bytes: bytesOfMember(given.bytes, batch, nth),
    // A member that was split off an earlier record keeps its origin when it comes back as a record of one.
    origin: batch.isOne || (batch.count === 1 && isMember.test(origin)) ? origin : `${origin}#${nth}`,
    time,
    key,
    former: formers ? formers[nth] : former,
    format: batch.format,
    unread: batch.unread,
    isFree,
  }
}

/** The readable bytes of a member. */
export const bytesOfMember = (given: Buffer, batch: Batch, nth: number): Buffer => {
  const { content, record = given, members, isOne, isOtlp, logRecords } = batch
  if (isOne && content) return content
  if (logRecords) return readableMember(record, logRecords, nth)
  const { from = 0, to = 0 } = members[nth] ?? {}
  const member = (content ?? record).subarray(from, to)
  return isOtlp ? readableRecord(member) : member
}
