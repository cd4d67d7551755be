// Invariants of every execution: compares the promises with the outputs, calls and exits of the workers.
import type { AnnotatedIndicator } from '../../src/domain/annotation.js'
import type { AskedOnce } from './provider.js'
import type { ReplayHappened } from './replay-checks.js'
import type { Gained } from './execution/acts.js'
import {
  isAtPort,
  isListedIn,
  isListedOtherwise,
  maliciousAtProvider,
  type Act,
  type InputRecord,
  type Scenario,
  type Shown,
} from './scenario.js'

/** A record as seen by a read_committed reader. */
export type ReadRecord = {
  readonly partition: number
  readonly offset: number
  readonly key: string | undefined
  readonly value: string | undefined
  readonly atMs: number
}

/** A record of the input with its position. */
export type PlacedRecord = {
  readonly record: InputRecord
  readonly key: string | undefined
  readonly value: string | undefined
  readonly partition: number
  readonly offset: number
  /** Counts the topics of this name, which may be deleted and created again. */
  readonly topicNumber: number
  readonly atMs: number
}

export type Ended = { readonly worker: string; readonly how: 'returned' | 'failed' | 'crashed'; readonly why: string }

export type Happened = {
  readonly scenario: Scenario
  readonly input: readonly PlacedRecord[]
  /** How often the input topic was created. */
  readonly topics: number
  /** Whether the group has lost committed positions. */
  readonly areOffsetsLost: boolean
  /** By partition: the first remaining offset in the last topic. */
  readonly logStart: ReadonlyMap<number, number>
  readonly output: readonly ReadRecord[]
  readonly dead: readonly ReadRecord[]
  readonly alerts: readonly ReadRecord[]
  readonly corrections: readonly ReadRecord[]
  readonly verdicts: readonly ReadRecord[]
  /** Workers that still run, or ran until the stop at the end. */
  readonly alive: ReadonlySet<string>
  /** The time of that stop. */
  readonly endingMs: number
  readonly asked: readonly AskedOnce[]
  readonly mostInFlight: ReadonlyMap<string, number>
  readonly ended: readonly Ended[]
  /** Commits that passed a record before any output acknowledged it. */
  readonly prematureCommits: readonly string[]
  /** When a feed gained an address, and for which port. */
  readonly gained: ReadonlyMap<string, Gained>
  /** Names of the events that workers emitted. */
  readonly said: ReadonlySet<string>
  /** Faults that actually happened. */
  readonly done: readonly Act['kind'][]
  readonly replay: ReplayHappened | undefined
}

/** The promises. Each reports the number of executions that tested it, so that untested promises show. */
export const promises = [
  'every event comes out',
  'in order',
  'exactly once',
  'bytes intact',
  'no event without its answer, where asked',
  'no offset before its acknowledgement',
  'every alert',
  'no alert twice',
  'no retro alert about what late alerts have told',
  'what is suppressed is said',
  'what is suppressed is said once',
  'one alert per window',
  'every pending event corrected',
  'no correction twice',
  'no correction of what was complete',
  'retro alerts',
  'an entry for a port or a URL accuses nothing else',
  'paid for once',
  'calls within the limit',
  'what a spent budget left buys nothing',
  'what is paid for is shared',
  'what is shared is what the provider said',
  'ends only for a documented reason',
  'a replay is complete',
  'a replay writes nothing twice',
] as const
export type PromiseName = (typeof promises)[number]

export type Broken = { readonly promise: PromiseName; readonly what: string }

export type Checked = { readonly broken: readonly Broken[]; readonly atStake: ReadonlySet<PromiseName> }

/** One event of a written record. */
export type Copy = {
  readonly n: number
  readonly member: number
  readonly annotation: Annotation
  readonly at: ReadRecord
}
export type Annotation = {
  readonly verdict?: string
  readonly status?: string
  readonly reason?: string
  readonly indicators?: readonly Pick<AnnotatedIndicator, 'value' | 'verdict' | 'reason'>[]
}
export type Expected = {
  readonly n: number
  readonly address: string | undefined
  readonly also?: string
  readonly port?: number
  readonly path?: string
  readonly placed: PlacedRecord
  readonly member: number
  readonly isLarge: boolean
}

/** Collects the results of a check. */
export const beginCheck = (): { broken: Broken[]; atStake: Set<PromiseName>; expect: Expect } => {
  const broken: Broken[] = []
  const atStake = new Set<PromiseName>()
  const expect: Expect = (promise, holds, what) => {
    atStake.add(promise)
    if (!holds && broken.filter((one) => one.promise === promise).length < 5) broken.push({ promise, what: what() })
  }
  return { broken, atStake, expect }
}

export const check = (happened: Happened): Checked => {
  const { scenario } = happened
  const { broken, atStake, expect } = beginCheck()
  const isExactlyOnce = scenario.delivery === 'exactly-once'
  /** The group starts again from the beginning: events are read again, and no process can know of the first time. */
  const begunAnew = happened.areOffsetsLost
  const expected = eventsOf(happened)
  const byNumber = new Map(expected.map((event) => [event.n, event]))
  const copies = happened.output.flatMap(copiesIn)
  const copiesOf = groupBy(copies, ({ n }) => n)
  const deadOf = groupBy(happened.dead.flatMap(copiesIn), ({ n }) => n)

  for (const event of expected) {
    const { n, placed, isLarge } = event
    const found = isLarge ? (deadOf.get(n) ?? []) : (copiesOf.get(n) ?? [])
    if (mustComeOut(event, happened))
      expect('every event comes out', found.length > 0, () => `event ${n} at ${placeOf(event)} is missing`)
    if (isExactlyOnce && !begunAnew)
      expect('exactly once', found.length <= 1, () => `event ${n} at ${placeOf(event)} came out ${found.length} times`)
    for (const { at } of isLarge ? [] : found.slice(0, 1))
      expect('bytes intact', isIntact(placed, at.value), () => `event ${n}: ${at.value ?? 'null'}`)
  }
  for (const { n } of copies) expect('bytes intact', byNumber.has(n), () => `event ${n} was never written, or aborted`)
  for (const copy of scenario.mode === 'complete' ? copies : [])
    expect(
      'no event without its answer, where asked',
      !isPending(copy),
      () => `event ${copy.n} is ${copy.annotation.reason ?? ''}`,
    )
  checkTombstones(happened, expect, isExactlyOnce && !begunAnew)
  checkOrder(happened, copies, byNumber, expect)
  for (const what of happened.prematureCommits) expect('no offset before its acknowledgement', false, () => what)
  if (happened.output.length > 0) atStake.add('no offset before its acknowledgement')
  checkFollowUps(happened, { expected, copiesOf, byNumber, begunAnew }, expect)
  checkNarrow(happened, expected, copiesOf, expect)
  checkCalls(happened, expect)
  checkBudget(happened, expected, copiesOf, expect)
  checkVerdicts(happened, expect)
  for (const { worker, why, how } of happened.ended)
    expect(
      'ends only for a documented reason',
      how === 'returned' && isDocumented(why, happened),
      () => `${worker} ${how}: ${why}`,
    )
  // Rejected alerts and corrections are counted and dropped.
  const isExcused = ({ promise }: Broken): boolean => happened.done.includes('shrink') && isFollowUp.has(promise)
  return { broken: broken.filter((one) => !isExcused(one)), atStake }
}

const isFollowUp: ReadonlySet<PromiseName> = new Set([
  'every alert',
  'every pending event corrected',
  'retro alerts',
  'what is suppressed is said',
])

export type Expect = (promise: PromiseName, holds: boolean, what: () => string) => void

export const placeOf = ({ placed, member }: Expected): string =>
  `${placed.topicNumber === 0 ? '' : `topic ${placed.topicNumber + 1}, `}partition ${placed.partition}, offset ${placed.offset}${member >= 0 ? `, member ${member}` : ''}`

export const eventsOf = ({ input }: Happened): readonly Expected[] =>
  input.flatMap((placed): Expected[] => {
    const { record } = placed
    switch (record.kind) {
      case 'tombstone':
        return []
      case 'batch':
        return record.members.map((one, member) => ({ ...one, placed, member, isLarge: false }))
      case 'event':
        return [{ ...record, placed, member: -1, isLarge: false }]
      case 'text':
      case 'large':
        return [{ n: record.n, address: record.address, placed, member: -1, isLarge: record.kind === 'large' }]
    }
  })

/** Events deleted before they were read need not come out. */
const mustComeOut = ({ placed }: Pick<Expected, 'placed'>, { topics, logStart }: Happened): boolean =>
  placed.topicNumber === topics - 1 && placed.offset >= (logStart.get(placed.partition) ?? 0)

export const groupBy = <Value, Key>(values: readonly Value[], keyOf: (value: Value) => Key): Map<Key, Value[]> => {
  const groups = new Map<Key, Value[]>()
  for (const value of values) {
    const group = groups.get(keyOf(value))
    if (group) group.push(value)
    else groups.set(keyOf(value), [value])
  }
  return groups
}

/** Cached, because several checks use the same records. */
const knownCopies = new WeakMap<ReadRecord, readonly Copy[]>()

/** The events in a written record: the record itself, its members, or the wrapped line. */
export const copiesIn = (at: ReadRecord): readonly Copy[] => {
  const before = knownCopies.get(at)
  if (before) return before
  const copies = parseCopies(at)
  knownCopies.set(at, copies)
  return copies
}

const parseCopies = (at: ReadRecord): readonly Copy[] => {
  if (at.value === undefined) return []
  const parsed: unknown = JSON.parse(at.value)
  const one = (value: unknown, member: number): Copy[] => {
    const event = value as { readonly n?: number; readonly message?: string; readonly threatweave?: Annotation }
    const n = event.n ?? Number(/n=(\d+)/.exec(event.message ?? '')?.[1])
    return [{ n, member, annotation: event.threatweave ?? {}, at }]
  }
  return Array.isArray(parsed) ? parsed.flatMap((value, member) => one(value, member)) : one(parsed, -1)
}

/** Whether the original is unchanged except for inserted annotations. Each member of a split batch is a separate event. */
export const isIntact = ({ record, value = '' }: PlacedRecord, written = ''): boolean => {
  if (record.kind === 'text') return (JSON.parse(written) as { message?: string }).message === value
  const originals = record.kind === 'batch' ? record.members.map(memberText) : [value]
  const rest = written.replace(
    /,"threatweave":\{(?:[^{}"]|"(?:[^"\\]|\\.)*"|\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\})*\}/g,
    '',
  )
  return rest === value || originals.includes(rest)
}

const checkTombstones = ({ input, output, ...rest }: Happened, expect: Expect, isOnce: boolean): void => {
  const written = groupBy(
    output.filter(({ value }) => value === undefined),
    ({ key }) => key,
  )
  for (const placed of input) {
    if (placed.record.kind !== 'tombstone') continue
    const count = written.get(placed.key)?.length ?? 0
    const where = `the tombstone ${placed.key ?? ''} of partition ${placed.partition}`
    if (mustComeOut({ placed }, { input, output, ...rest }))
      expect('every event comes out', count > 0, () => `${where} is missing`)
    if (isOnce) expect('exactly once', count <= 1, () => `${where} came out ${count} times`)
  }
}

/** After these, a worker may continue with a chunk of a partition that another one has taken over. */
const outlastsSessions: ReadonlySet<Act['kind']> = new Set([
  'pause',
  'broker_away',
  'coordinator_dies',
  'all_brokers_away',
])

/**
 * First occurrences follow the order of their input partition; with order by key, the order of the key within it.
 * With at-least-once, a paused or disconnected worker may still write events of the former topic when the new topic's events have started.
 * No other worker can write those.
 */
const checkOrder = (
  happened: Happened,
  copies: readonly Copy[],
  byNumber: ReadonlyMap<number, Expected>,
  expect: Expect,
): void => {
  const { scenario, done } = happened
  const maySleep = scenario.delivery === 'at-least-once' && done.some((kind) => outlastsSessions.has(kind))
  const seen = new Set<number>()
  const last = new Map<string, Expected>()
  const inOrder = copies.toSorted((one, other) => one.at.offset - other.at.offset || one.member - other.member)
  for (const { n, at } of inOrder) {
    const event = byNumber.get(n)
    if (seen.has(n) || !event) continue
    seen.add(n)
    // A paused or disconnected worker still had it, and it was deleted for the worker that took over.
    if (maySleep && !mustComeOut(event, happened)) continue
    const { placed } = event
    const topic = maySleep ? placed.topicNumber : ''
    const key = scenario.partitionBy === 'key' ? (placed.key ?? '') : ''
    const stream = `${topic} ${at.partition} ${placed.partition} ${key}`
    const before = last.get(stream)
    last.set(stream, event)
    if (before)
      expect(
        'in order',
        isAfter(event, before),
        () => `event ${n} at ${placeOf(event)} came out after ${placeOf(before)}`,
      )
  }
}

const isAfter = (event: Expected, before: Expected): boolean =>
  event.placed.topicNumber - before.placed.topicNumber ||
  event.placed.offset - before.placed.offset ||
  event.member - before.member
    ? (event.placed.topicNumber - before.placed.topicNumber ||
        event.placed.offset - before.placed.offset ||
        event.member - before.member) > 0
    : false

export type AlertValue = {
  readonly threatweave: {
    readonly kind?: string
    readonly alert_id?: string
    readonly group_id?: string
    readonly count?: number
    readonly value?: string
    readonly late?: boolean
    /** Other indicators that the rule matched. */
    readonly indicators?: readonly string[]
    readonly origin?: string
    readonly origins?: readonly string[]
    readonly origins_omitted?: number
  }
}

/** Temporary reasons. */
const awaited: ReadonlySet<string> = new Set([
  'pending',
  'deadline',
  'breaker_open',
  'unavailable',
  'timeout',
  'throttled',
  'busy',
  'queue_full',
  'budget_spent',
  'cooling_down',
])
const isOnItsWay = (reason: string | undefined): boolean => reason !== undefined && awaited.has(reason)

const isPending = ({ annotation: { reason, indicators = [] } }: Copy): boolean =>
  isOnItsWay(reason) || indicators.some((one) => isOnItsWay(one.reason))

/** Whether the lookup of one address is pending; a compact annotation does not list addresses. */
const isPendingFor = (copy: Copy, address: string): boolean => {
  const own = indicatorIn(copy, address)
  return own ? isOnItsWay(own.reason) : isPending(copy)
}
const isAccusedIn = (copy: Copy, address: string): boolean =>
  (indicatorIn(copy, address) ?? copy.annotation).verdict === 'malicious'

const indicatorIn = ({ annotation: { indicators } }: Copy, address: string) =>
  indicators?.find(({ value }) => value === address)

const originOf = ({ placed, member }: Expected): string =>
  `input/${placed.partition}/${placed.offset}${member >= 0 ? `#${member}` : ''}`

const addressesOf = ({ address = '', also }: Expected): readonly string[] =>
  also === undefined ? [address] : [address, also]

type Events = {
  readonly expected: readonly Expected[]
  readonly copiesOf: ReadonlyMap<number, readonly Copy[]>
  readonly byNumber: ReadonlyMap<number, Expected>
  readonly begunAnew: boolean
}

/** Checks alerts, corrections and retro alerts. */
const checkFollowUps = (happened: Happened, events: Events, expect: Expect): void => {
  const { scenario, done, topics } = happened
  const { expected, copiesOf, begunAnew } = events
  const isExactlyOnce = scenario.delivery === 'exactly-once'
  /** Deleted records cannot be read again. */
  const isGone = done.includes('recreate_input') || done.includes('delete_records')
  const corrected = groupBy(happened.corrections.flatMap(copiesIn), ({ n }) => n)
  const alerts = happened.alerts.map(({ value = '' }) => (JSON.parse(value) as AlertValue).threatweave)
  const alerted = new Map<string, number>()
  const toldKey = (origin: string, value: string): string => `${origin} ${value}`
  const aboutEvents = alerts.filter(({ kind }) => kind === undefined)
  /** Additional indicators of an alert are those of its first event, and may stand for other late ones. */
  const listed = new Set<string>()
  for (const { origin = '', origins = [origin], value = '', indicators = [] } of aboutEvents) {
    for (const key of origins.map((one) => toldKey(one, value))) alerted.set(key, (alerted.get(key) ?? 0) + 1)
    for (const other of indicators) for (const one of origins) listed.add(toldKey(one, other))
  }

  const alertedValues = new Set(aboutEvents.flatMap(({ value = '', indicators = [] }) => [value, ...indicators]))
  const matched: Expected[] = []
  const mayBeAccused = (event: Expected, address: string): boolean =>
    maliciousAtProvider.has(address) || isListedIn(scenario, event, address) || happened.gained.has(address)
  let mostMatches = 0

  for (const event of expected) {
    const { n, isLarge } = event
    const copies = copiesOf.get(n) ?? []
    const last = copies.at(-1)
    // It came out as a dead letter, and alerts cover it too.
    if (isLarge && mayBeAccused(event, event.address ?? '')) mostMatches++
    if (!last || isLarge) continue
    // Lookups that a spent budget left open are answered if another event pays for them.
    const isAnswered = scenario.perDay === undefined
    const isFollowed = scenario.sightings && !isGone && !begunAnew
    const final = corrected.get(n) ?? []
    if (scenario.corrections && scenario.mode === 'live') {
      // A record with several events is corrected as a whole, once none of them is pending.
      const isWaiting = copiesIn(last.at).some(isPending)
      if (isFollowed && isAnswered && copies.every((copy) => copiesIn(copy.at).some(isPending)))
        expect(
          'every pending event corrected',
          final.some(({ annotation }) => annotation.status === 'complete'),
          () => `event ${n} at ${placeOf(event)} is ${final.length === 0 ? 'pending' : 'corrected without an answer'}`,
        )
      if (isExactlyOnce && !begunAnew) {
        expect(
          'no correction twice',
          final.length <= 1 || scenario.batches === 'split',
          () => `event ${n} was corrected ${final.length} times`,
        )
        if (!isWaiting && scenario.batches === 'inside')
          expect('no correction of what was complete', final.length === 0, () => `event ${n} was complete`)
      }
    }
    if (!scenario.alerts) continue
    const origin = originOf(event)
    // Of repeats only the last copy must have an alert: an earlier one may precede a kill, and the last one may never get its answer.
    const told = isExactlyOnce || isFollowed ? copies : [last]
    // Without a sightings topic it is unknown whether a late alert was written when the answer to its commit was lost.
    const isTellable = isFollowed || !happened.said.has('producer_replaced')
    // With at-least-once, an event written just before a kill is repeated with its alert, if its record still exists.
    const isRepeated = isExactlyOnce || mustComeOut(event, happened)
    let isMatch = false
    for (const address of addressesOf(event)) {
      const count = alerted.get(toldKey(origin, address)) ?? 0
      const isKnown = [...told, ...(isTellable ? final : [])].some((copy) => isAccusedIn(copy, address))
      const isLateMatch =
        isFollowed &&
        isAnswered &&
        maliciousAtProvider.has(address) &&
        copies.every((copy) => isPendingFor(copy, address))
      isMatch ||= isKnown || isLateMatch
      const mayBeLate = mayBeAccused(event, address) && copies.some((copy) => isPendingFor(copy, address))
      if (isKnown || mayBeLate) mostMatches++
      // With suppression, another event with the address may have the alert.
      const isTold = count > 0 || listed.has(toldKey(origin, address))
      const isAlerted = scenario.suppressSeconds === undefined ? isTold : alertedValues.has(address)
      if ((isKnown && isRepeated) || (isListedIn(scenario, event, address) && mustComeOut(event, happened)))
        expect('every alert', isAlerted, () => `event ${n} at ${placeOf(event)} about ${address} raised none`)
      if (isLateMatch)
        expect('every alert', isAlerted, () => `event ${n} at ${placeOf(event)}, late, about ${address} raised none`)
      if (isExactlyOnce && !begunAnew)
        expect(
          'no alert twice',
          count <= topics,
          () => `event ${n} at ${placeOf(event)} about ${address} raised ${count}`,
        )
    }
    if (isMatch) matched.push(event)
  }
  if (scenario.alerts) checkRetro(happened, alerts, events, expect)
  // With at-least-once, a worker that was paused past its session continues briefly with stale state.
  const maySleep = !isExactlyOnce && done.some((kind) => outlastsSessions.has(kind))
  if (scenario.alerts && !maySleep && !done.includes('recreate_input')) checkOnceTold(happened, alerts, events, expect)
  if (scenario.suppressSeconds !== undefined) checkUpdates(happened, alerts, matched, mostMatches, expect)
}

/** Also after an outage: a retro alert covers all events with its indicator, at least one of which has no other alert. */
const checkOnceTold = (
  { gained }: Happened,
  alerts: readonly AlertValue['threatweave'][],
  { expected, copiesOf }: Events,
  expect: Expect,
): void => {
  const late = alerts.filter((one) => one.late === true)
  if (late.length > 0) expect('no retro alert about what late alerts have told', true, () => '')
  for (const { kind, value = '', origins = [] } of alerts) {
    // A feed match while the event waits raises an alert at once, and another one with its answer.
    if (kind !== 'retro' || gained.has(value)) continue
    const [partition] = origins.map((origin) => Number(origin.split('/')[1]))
    const told = new Set(
      late.flatMap((one) => (one.value === value || one.indicators?.includes(value) ? (one.origins ?? []) : [])),
    )
    if (!origins.some((origin) => told.has(origin))) continue
    const untold = expected.filter(
      (event) =>
        event.placed.partition === partition &&
        addressesOf(event).includes(value) &&
        !told.has(originOf(event)) &&
        (copiesOf.get(event.n) ?? []).some((copy) => !isAccusedIn(copy, value)),
    )
    expect(
      'no retro alert about what late alerts have told',
      untold.length > 0,
      () => `${value}: late alerts and a retro alert about ${origins.join(', ')}`,
    )
  }
}

/** After these, a process may not learn whether its last commit succeeded. */
const endsMembership: ReadonlySet<Act['kind']> = new Set([
  'stop',
  'pause',
  'broker_away',
  'coordinator_dies',
  'all_brokers_away',
  'rolling_restart',
  'move_coordinators',
])

/**
 * Alerts and updates together count every match, with one alert per window and partition. Without a sightings topic, pending counts are
 * lost if a process is killed, ends without a partition, or leaves the group before it learns whether a commit succeeded.
 */
const checkUpdates = (
  { done, ended, areOffsetsLost, scenario, said: emitted }: Happened,
  alerts: readonly AlertValue['threatweave'][],
  matched: readonly Expected[],
  /** Counts each indicator of an event, because one may be reported later than another. */
  mostMatches: number,
  expect: Expect,
): void => {
  const isKept = scenario.sightings
  const isForgotten =
    done.includes('kill') ||
    (emitted.has('producer_replaced') && done.some((kind) => endsMembership.has(kind))) ||
    emitted.has('alert_updates_dropped') ||
    scenario.workersMs.length > 1
  const isLost = (isForgotten && !isKept) || ended.length > 0 || areOffsetsLost || done.includes('recreate_input')
  const written = alerts.filter(({ kind }) => kind === undefined || kind === 'update')
  // Repeats have the same id.
  const once = new Map(written.map(({ alert_id: id, count = 0 }) => [id, count]))
  const said = [...once.values()].reduce((sum, count) => sum + count, 0)
  if (!isLost && matched.length > 0)
    expect(
      'what is suppressed is said',
      said >= matched.length,
      () => `${matched.length} events matched, alerts and updates say ${said}`,
    )
  if (isLost || !isKept || scenario.delivery !== 'exactly-once') return
  expect(
    'what is suppressed is said once',
    said <= mostMatches,
    () => `at most ${mostMatches} indicators of events matched, alerts and updates say ${said}`,
  )
  const raised = new Map<string, string>()
  for (const { kind, group_id: group = '', origin = '', alert_id: id = '' } of alerts) {
    if (kind !== undefined) continue
    const window = `${group} in ${origin.slice(0, origin.lastIndexOf('/'))}`
    const other = raised.get(window)
    expect('one alert per window', other === undefined, () => `${window} has the alerts ${other} and ${id}`)
    raised.set(window, id)
  }
}

/** The time until a changed feed is in use: two polls of the file, and a restore after a join. */
const noticedMs = 30_000

const checkRetro = (
  { gained, scenario, done }: Happened,
  alerts: readonly AlertValue['threatweave'][],
  { expected, copiesOf, begunAnew }: Events,
  expect: Expect,
): void => {
  const isGone = done.includes('recreate_input') || done.includes('delete_records')
  /** Events whose lookup was pending at the change, and that were annotated again later, have a late alert instead. */
  const told = new Set(
    alerts
      .filter(({ kind, late }) => kind === undefined && late === true)
      .flatMap(({ value = '', indicators = [], origins = [] }) =>
        origins.flatMap((origin) => [value, ...indicators].map((one) => `${origin} ${one}`)),
      ),
  )
  /** With suppression, the late alert of another event may stand for it. */
  const isSuppressing = scenario.suppressSeconds !== undefined
  const isTold = (event: Expected, address: string): boolean =>
    isSuppressing ? [...told].some((one) => one.endsWith(` ${address}`)) : told.has(`${originOf(event)} ${address}`)
  for (const [address, { atMs, port }] of gained) {
    const seen = expected.filter((event) => addressesOf(event).includes(address))
    const isMeant = (event: Expected): boolean => port === undefined || isAtPort(event, address, port)
    for (let partition = 0; partition < scenario.partitions; partition++) {
      // An uncommitted event that is repeated as malicious has its own alert.
      const before = seen.filter((event) => {
        const { n, placed } = event
        const copies = copiesOf.get(n) ?? []
        return (
          placed.partition === partition &&
          isMeant(event) &&
          copies.some(({ at }) => at.atMs < atMs - noticedMs / 10) &&
          copies.every((copy) => !isAccusedIn(copy, address)) &&
          !isTold(event, address)
        )
      })
      const raised = alerts.filter(
        ({ kind, value, origins }) =>
          kind === 'retro' && value === address && origins?.some((one) => one.startsWith(`input/${partition}/`)),
      )
      if (before.length > 0 && scenario.sightings && !isGone && !begunAnew)
        expect(
          'retro alerts',
          raised.length > 0,
          () => `${address}, gained after partition ${partition} had seen it, raised none`,
        )
      expect(
        'an entry for a port or a URL accuses nothing else',
        raised.length === 0 ||
          begunAnew ||
          seen.some((event) => event.placed.partition === partition && isMeant(event)),
        () => `${address}:${port ?? ''} raised a retro alert for partition ${partition}, which has not seen that port`,
      )
      // Events annotated before the change and written after it are reported too.
      const since = seen.filter(
        ({ n, placed }) =>
          placed.partition === partition &&
          (copiesOf.get(n) ?? []).some((copy) => !isAccusedIn(copy, address) && copy.at.atMs > atMs),
      )
      if (raised.length > 0 && scenario.delivery === 'exactly-once' && !isGone && !begunAnew)
        expect(
          'retro alerts',
          raised.length <= 1 + since.length,
          () => `${address} raised ${raised.length} for partition ${partition}`,
        )
      // Events that are delivered or restored again are not counted twice.
      for (const { count = 0 } of isGone || begunAnew ? [] : raised)
        expect(
          'retro alerts',
          count <= seen.filter(({ placed }) => placed.partition === partition).length,
          () => `${address} raised an alert for partition ${partition} that counts ${count} events`,
        )
    }
  }
}

const checkNarrow = (
  { scenario, gained }: Happened,
  expected: readonly Expected[],
  copiesOf: ReadonlyMap<number, readonly Copy[]>,
  expect: Expect,
): void => {
  for (const event of expected) {
    const { n, address = '', also } = event
    const port = gained.get(address)?.port
    const isOther =
      isListedOtherwise(scenario, event, address) || (port !== undefined && !isAtPort(event, address, port))
    // Without a list of indicators, the verdict may belong to the other address.
    if (!isOther || also !== undefined || maliciousAtProvider.has(address)) continue
    for (const copy of copiesOf.get(n) ?? [])
      expect(
        'an entry for a port or a URL accuses nothing else',
        !isAccusedIn(copy, address),
        () =>
          `event ${n} at ${placeOf(event)} about ${address} is malicious, though only another port or URL is listed`,
      )
  }
}

const checkCalls = ({ asked, mostInFlight, scenario }: Happened, expect: Expect): void => {
  const paid = groupBy(
    asked.filter(({ answeredMs }) => answeredMs !== undefined),
    ({ process, address }) => `${process} ${address}`,
  )
  for (const [what, calls] of paid)
    expect('paid for once', calls.length === 1, () => `${what}: ${calls.length} answers`)
  for (const [process, most] of mostInFlight)
    expect('calls within the limit', most <= scenario.concurrency, () => `${process} had ${most} calls in flight`)
}

/** A restarted process has a new budget, but must not spend it on events that were sent when the old budget was exhausted. */
const checkBudget = (
  { asked, scenario }: Happened,
  expected: readonly Expected[],
  copiesOf: ReadonlyMap<number, readonly Copy[]>,
  expect: Expect,
): void => {
  if (scenario.perDay === undefined) return
  const isLeft = (event: Expected, atMs: number): boolean => {
    const copies = copiesOf.get(event.n) ?? []
    const isAlone = event.also === undefined && event.member < 0
    return (
      isAlone &&
      copies.length > 0 &&
      copies.every(({ at, annotation }) => at.atMs < atMs && annotation.reason === 'budget_spent')
    )
  }
  for (const { process, address, atMs } of asked) {
    const shown = expected.filter((event) => addressesOf(event).includes(address))
    expect(
      'what a spent budget left buys nothing',
      shown.length === 0 || !shown.every((event) => isLeft(event, atMs)),
      () => `${process} asked about ${address} at ${atMs} ms, when all its events had left with budget_spent`,
    )
  }
}

const checkVerdicts = ({ verdicts, asked, alive, endingMs, scenario }: Happened, expect: Expect): void => {
  if (scenario.verdicts !== true) return
  const shared = new Set<string>()
  for (const { key = '', value = '' } of verdicts) {
    const address = key.replace('service|ip:', '')
    shared.add(address)
    const { facts } = JSON.parse(value) as { facts?: { flags?: { is_malicious?: boolean } } }
    expect(
      'what is shared is what the provider said',
      facts?.flags?.is_malicious === maliciousAtProvider.has(address),
      () => `${key}: ${value}`,
    )
  }
  // A killed process may not have shared its last answer, nor a stopping one that got it at the last moment.
  for (const { process, address, answeredMs } of asked)
    if (answeredMs !== undefined && answeredMs < endingMs && alive.has(process))
      expect('what is paid for is shared', shared.has(address), () => `${process} did not share ${address}`)
}

/** Failures that docs/kafka.md describes. */
const isDocumented = (why: string, { done }: Happened): boolean => {
  if (why === '') return true
  if (/^topic input (does not exist|is missing)/.test(why) || /does not host this topic-partition/.test(why))
    return done.includes('recreate_input')
  if (/^Kafka (refuses our output|cannot be used): .*authori[sz]ed/i.test(why)) return done.includes('deny')
  return /^not everything in progress was delivered within \d+ ms of the stop/.test(why)
}

export const memberText = ({ n, address, also, port, path }: Shown): string => {
  if (path !== undefined)
    return `{"n":${n},"src_ip":"10.0.0.${1 + (n % 9)}","url":"https://files.example.net${path}","action":"allowed","size":12345678901234567890}`
  const portOf = port === undefined ? '' : `"src_port":${port},`
  const answers = also === undefined ? '' : `"dns":{"answers":["${also}"]},`
  return `{"n":${n},"src_ip":"${address}",${portOf}"dst_ip":"10.0.0.${1 + (n % 9)}",${answers}"action":"allowed","size":12345678901234567890}`
}

/** The bytes of an input record. */
export const textOf = (record: InputRecord): string | undefined => {
  switch (record.kind) {
    case 'tombstone':
      return undefined
    case 'event':
      return memberText(record)
    case 'batch':
      return `[${record.members.map(memberText).join(',')}]`
    case 'text':
      return `n=${record.n} src=${record.address} dst=10.0.0.${1 + (record.n % 9)} action=accept`
    case 'large':
      return `{"n":${record.n},"src_ip":"${record.address}","pad":"${'x'.repeat(17_000)}"}`
  }
}
