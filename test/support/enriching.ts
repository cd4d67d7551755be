// Runs enrichment with real lookup layers, a test source and a fake clock.
import type { Judged, Verdict } from '../../src/domain/verdict.js'
import type { Decision } from '../../src/domain/decision.js'
import type { Finding } from '../../src/domain/finding.js'
import { keyOf, type Indicator } from '../../src/domain/indicator.js'
import type { Extraction, Sighting } from '../../src/domain/sighting.js'
import { createEnrich } from '../../src/pipeline/enrich/enrich.js'
import { createInFlight } from '../../src/pipeline/enrich/in-flight.js'
import { createWaits, type Wait } from '../../src/pipeline/enrich/wait.js'
import { createFakeClock, settle, type FakeClock } from './clock.js'
import { classify, createSource, indicator, known } from './lookup.js'
import { createStack, type StackOptions } from './stacks.js'

type EnrichOptions = Parameters<typeof createEnrich>[0]

type WaitOptions = Parameters<typeof createWaits>[0]

export const sighting = (nth: number): Sighting => ({
  ...indicator(nth),
  field: 'dst',
  role: 'destination',
  evidence: 'field',
})
export const event = (...nths: number[]): Extraction => ({
  action: 'allowed',
  sightings: nths.map(sighting),
  truncated: false,
})
const decide = ({ type, value }: Sighting): Decision => ({ decision: 'lookup', ask: { type, value } })
const judge = (finding: Finding): Verdict =>
  finding.status === 'known'
    ? { level: classify(finding), flags: {}, because: '', ...(finding.stale && { stale: true }) }
    : { level: 'unknown', reason: finding.reason, flags: {}, because: '' }

type SetUp = Partial<Pick<EnrichOptions, 'lookup'>> &
  Partial<Pick<WaitOptions, 'deadlineMs' | 'catchUpShare' | 'estimateMs'>> & {
    readonly mode?: 'live' | 'complete'
    readonly tookMs?: number
  }

export const setUp = (
  answer?: (asked: Indicator, nth: number, clock: FakeClock) => Finding | Promise<Finding>,
  { tookMs = 10, mode = 'live', lookup, ...options }: SetUp = {},
  stackOptions: StackOptions = {},
) => {
  const clock = createFakeClock()
  const source = createSource(clock, (asked, nth) => answer?.(asked, nth, clock) ?? known(clock.now()), tookMs)
  const stack = createStack(source, clock, stackOptions)
  const inFlight = createInFlight(clock)
  let waitedMs = 0
  const waits = createWaits({
    clock,
    deadlineMs: 500,
    catchUpShare: 0,
    estimateMs: (asked) => stack.admission.estimateMs(keyOf(asked)),
    provider: stack.admission.state,
    quietMs: inFlight.quietMs,
    waited: (ms) => void (waitedMs += ms),
    ...options,
  })
  const { start, wait, finish } = createEnrich({ lookup: lookup ?? stack.lookup, decide, judge, clock, inFlight })
  const enrichWith = (chunk: readonly Extraction[], how: Wait): Judgements | Promise<Judgements> => {
    const rows = chunk.map((extraction) => start(extraction, how, clock.now()))
    const finishAll = (isWanted: boolean): Judgements =>
      isWanted ? rows.map((row) => finish(row, how, clock.now())) : []
    const isWanted = rows.every(({ open }) => open.length === 0) || wait(rows, how)
    return isWanted instanceof Promise ? isWanted.then(finishAll) : finishAll(isWanted)
  }
  const enrich = (chunk: readonly Extraction[], behind: boolean): Judgements | Promise<Judgements> =>
    enrichWith(chunk, mode === 'complete' ? waits.complete : behind ? waits.catchUp(() => true) : waits.live)
  return { clock, source, enrich, enrichWith, start, waits, waitedMs: () => waitedMs, ...stack }
}
type Judgements = readonly (readonly Judged[])[]
export const words = (rows: readonly (readonly Judged[])[]): string[][] =>
  rows.map((row) =>
    row.map(({ verdict }) => verdict.reason ?? (verdict.stale ? `stale ${verdict.level}` : verdict.level)),
  )
export const never = new Promise<Finding>(() => undefined)

/** Returns how far the clock must advance until the chunk is done. */
export const elapsed = async (clock: FakeClock, work: Promise<unknown>, maxMs = 100_000): Promise<number> => {
  const state = { isDone: false }
  void work.then(() => (state.isDone = true))
  await settle()
  for (let ms = 0; ms <= maxMs; ms += 5) {
    if (state.isDone) return ms
    await clock.advance(5)
  }
  return Infinity
}
