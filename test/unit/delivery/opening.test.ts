// How partitions are claimed beside the batches: paused until then, a few at a time, again and again, and not for ever.
import { expect, it, vi } from 'vitest'
import type { Claimed } from '../../../src/delivery/delivery.js'
import { createOpenings, type Openings } from '../../../src/delivery/opening.js'
import type { Assigned } from '../../../src/kafka/fetched.js'
import { assignedAs } from '../../support/assigned.js'

const claimed: Claimed = { offset: 7, topicId: 'a', isFormer: false }

type Opening = ReturnType<Openings>
type OpeningOptions = Parameters<typeof createOpenings>[0]

type Scene = {
  readonly open: (claim: () => Promise<Claimed>, of?: Partial<Assigned>, after?: Promise<unknown>) => Opening
  readonly again: () => void
  /** What the partitions and the process were told. */
  readonly told: string[]
  readonly close: () => void
}

const scene = (options: Partial<OpeningOptions> = {}): Scene => {
  const told: string[] = []
  const closing = new AbortController()
  const openings = createOpenings({
    limitMs: 60_000,
    reachableMs: () => performance.now(),
    emit: () => undefined,
    fail: (sentence) => told.push(sentence),
    ...options,
  })
  let begin = (): void => undefined
  return {
    open: (claim, of = {}, after = Promise.resolve()) => {
      const opening = openings('fw/0', claim, closing.signal, () => undefined, after)
      const assigned = assignedAs({ pause: () => told.push('paused'), resume: () => told.push('resumed'), ...of })
      begin = () => opening.begin(assigned)
      begin()
      return opening
    },
    again: () => begin(),
    told,
    close: () => closing.abort(),
  }
}

/** Claims that succeed when they are told to. */
const claims = (): { readonly claim: () => Promise<Claimed>; readonly waiting: (() => void)[] } => {
  const waiting: (() => void)[] = []
  return { waiting, claim: () => new Promise((resolve) => waiting.push(() => resolve(claimed))) }
}

it('a partition is paused until it is claimed', async () => {
  const { open, told } = scene()
  const { claim, waiting } = claims()
  const opening = open(claim)
  await vi.waitFor(() => expect(waiting).toHaveLength(1))
  expect(told).toEqual(['paused'])
  waiting[0]?.()
  expect(await opening.opened()).toBe(claimed)
  expect(told).toEqual(['paused', 'resumed'])
})

it('four are claimed at a time: one that takes long holds up none that follow', async () => {
  const { open, told } = scene()
  const { claim, waiting } = claims()
  for (let nth = 0; nth < 6; nth++) open(claim)
  await vi.waitFor(() => expect(waiting).toHaveLength(4))
  waiting[3]?.()
  await vi.waitFor(() => expect(waiting).toHaveLength(5))
  waiting[4]?.()
  await vi.waitFor(() => expect(waiting).toHaveLength(6))
  expect(told.filter((one) => one === 'resumed')).toHaveLength(2)
})

it('nothing is claimed before what is in progress of the partition has ended', async () => {
  const { open, told } = scene()
  const { claim, waiting } = claims()
  let end = (): void => undefined
  open(claim, {}, new Promise<void>((resolve) => (end = resolve)))
  await new Promise(setImmediate)
  expect([waiting, told]).toEqual([[], ['paused']])
  end()
  await vi.waitFor(() => expect(waiting).toHaveLength(1))
})

it('a claim that fails is repeated', async () => {
  const { open, told } = scene()
  let attempts = 0
  const opening = open(() => (++attempts > 1 ? Promise.resolve(claimed) : Promise.reject(new Error('fenced'))))
  expect(await opening.opened()).toBe(claimed)
  expect([attempts, told]).toEqual([2, ['paused', 'resumed']])
})

it.each([
  ['ends the process with its sentence', new Error('fenced'), ['the opening of fw/0 failed for 1 ms: Error: fenced']],
  ['waits for a broker that is away', Object.assign(new Error('no'), { name: 'KafkaJSBrokerNotFound' }), []],
])('a partition that cannot be claimed %s', async (_what, failure, sentences) => {
  const { open, told, close } = scene({ limitMs: 1 })
  let attempts = 0
  open(() => {
    attempts++
    return Promise.reject(failure)
  })
  await vi.waitFor(() => expect(sentences.length > 0 ? told.slice(1) : attempts).toEqual(sentences.length > 0 ? sentences : 2), 30_000) // prettier-ignore
  expect(told.slice(1)).toEqual(sentences)
  close()
})

it('an outage ends no process: the limit counts only while brokers can be reached', async () => {
  const { open, told, close } = scene({ limitMs: 1, reachableMs: () => 0 })
  let attempts = 0
  open(() => {
    attempts++
    return Promise.reject(new Error('no answer'))
  })
  await vi.waitFor(() => expect(attempts).toBe(2), 30_000)
  expect(told).toEqual(['paused'])
  close()
})

it('a claim that another join has overtaken resumes nothing, and ends no process', async () => {
  const { open, again, told } = scene()
  const { claim, waiting } = claims()
  const opening = open(claim)
  await vi.waitFor(() => expect(waiting).toHaveLength(1))
  again()
  await vi.waitFor(() => expect(waiting).toHaveLength(2))
  waiting[0]?.()
  await new Promise(setImmediate)
  expect(told).toEqual(['paused', 'paused'])
  waiting[1]?.()
  await opening.opened()
  expect(told).toEqual(['paused', 'paused', 'resumed'])
})

it('a process that is no member any more claims nothing until its next join', async () => {
  let isMember = false
  const { open, again, told } = scene()
  const { claim, waiting } = claims()
  open(claim, { isMember: () => isMember })
  await new Promise(setImmediate)
  expect(waiting).toHaveLength(0)
  isMember = true
  again()
  await vi.waitFor(() => expect(waiting).toHaveLength(1))
  expect(told).toEqual(['paused', 'paused'])
})

it('nobody waits for the claim of a task that is closed', async () => {
  const { open, close } = scene()
  const opening = open(claims().claim)
  const opened = opening.opened()
  close()
  expect(await opened).toBeUndefined()
})
