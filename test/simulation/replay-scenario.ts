// Draws a replay next to the run as plain data: its range, its time and its faults, from a separate random stream.
import type { Act, Fault, RequestKind, Scenario, Trigger } from './scenario.js'
import { below, between, oneOf, type Random } from './world.js'

export type ReplayScenario = {
  readonly atMs: number
  /** The original input, or output that the live run wrote before its lookups were answered. */
  readonly of: 'input' | 'output'
  /** Partitions of an existing output topic; undefined if the replay creates it. */
  readonly outputPartitions: number | undefined
  /** `--rate`: a unit of work is a quarter of it, so a low rate gives many units. */
  readonly rate: number | undefined
}

type Known = Pick<Scenario, 'brokers' | 'delivery' | 'mode'>

/** One seed in five has a replay. */
const share = 0.2

export const drawReplay = (
  random: Random,
  known: Known,
): { readonly replay: ReplayScenario | undefined; readonly faults: readonly Fault[] } => {
  if (random() >= share) return { replay: undefined, faults: [] }
  const replay: ReplayScenario = {
    atMs: Math.floor(between(random, 1_000, 25_000)),
    of: random() < 0.25 && known.mode === 'live' ? 'output' : 'input',
    outputPartitions: random() < 0.4 ? 1 + below(random, 3) : undefined,
    rate: oneOf(random, [undefined, 10, 10, 40, 150]),
  }
  const faults = Array.from({ length: below(random, 6) }, (): Fault => {
    const act = drawAct(random, known)
    return { on: drawTrigger(random, act, known, replay), act }
  })
  return { replay, faults }
}

const drawAct = (random: Random, { brokers, delivery }: Known): Act => {
  const againMs = Math.floor(between(random, 50, 6_000))
  const forMs = Math.floor(between(random, 200, 8_000))
  const several = brokers > 1
  const acts: readonly (readonly [weight: number, act: Act])[] = [
    [6, { kind: 'replay_kill', againMs }],
    [3, { kind: 'replay_stop', againMs }],
    [2, { kind: 'replay_pause', forMs: forMs * 2 }],
    [2, { kind: 'replay_cut' }],
    [4, { kind: 'lose_answer' }],
    // One process at a time may use an id; only transactions fence the previous one.
    [delivery === 'exactly-once' ? 4 : 0, { kind: 'replay_second', pausedMs: random() < 0.3 ? 0 : forMs }],
    [1, { kind: 'broker_away', broker: below(random, brokers), forMs }],
    [several ? 1.5 : 0, { kind: 'move_leaders' }],
    [several ? 1.5 : 0, { kind: 'move_coordinators' }],
  ]
  let left = random() * acts.reduce((sum, [weight]) => sum + weight, 0)
  for (const [weight, act] of acts) if ((left -= weight) < 0) return act
  return { kind: 'replay_cut' }
}

const drawTrigger = (random: Random, act: Act, { delivery }: Known, { atMs }: ReplayScenario): Trigger => {
  if (act.kind !== 'lose_answer' && random() < 0.35) return { atMs: atMs + Math.floor(between(random, 50, 6_000)) }
  const shared = ['Produce', 'Fetch', 'OffsetFetch', 'FindCoordinator', 'InitProducerId', 'ListOffsets', 'OffsetCommit', 'Metadata', 'CreateTopics', 'DescribeConfigs'] as const // prettier-ignore
  const transactional = ['Produce', 'AddPartitionsToTxn', 'AddOffsetsToTxn', 'TxnOffsetCommit', 'EndTxn'] as const
  const kinds: readonly RequestKind[] = delivery === 'exactly-once' ? [...shared, ...transactional] : shared
  return {
    by: 'replay',
    request: oneOf(random, kinds),
    nth: 1 + below(random, random() < 0.5 ? 3 : 15),
    when: act.kind === 'lose_answer' ? 'after' : oneOf(random, ['before', 'after'] as const),
    fromMs: atMs,
  }
}
