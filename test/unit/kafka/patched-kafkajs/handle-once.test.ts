// What is compared: kafkajs's own runner and fetchers, while the leader of a partition moves.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { fetchWhenHandled, handleOnce } from '../../../../src/kafka/patched-kafkajs/handle-once.js'
import { original } from '../../../support/original-kafkajs.js'

type Runner = {
  running: boolean
  readonly scheduleFetchManager: () => void
  readonly fetchManager: { readonly stop: () => Promise<void> }
}
type RunnerClass = new (options: object) => Runner
type Payload = { readonly batch: { readonly fetchedOffset: string }; resolveOffset: (offset: string) => void }

const Batch = original('consumer/batch.js') as new (topic: string, fetchedOffset: string, data: object) => object
const nothing = (): void => undefined
const logger = { info: nothing, debug: nothing, warn: nothing, error: nothing, namespace: () => logger }

/** Two brokers answer a fetch from the same offset, the second one when the first batch is through; then there is nothing more. */
const handledBy = async (RunnerToTry: RunnerClass): Promise<readonly string[]> => {
  let position = 0
  const first = { isThrough: false }
  const handled: string[] = []
  const asked = new Set<string>()
  const fetch = async (nodeId: string): Promise<readonly object[]> => {
    await nextTurn()
    if (asked.has(nodeId)) return []
    asked.add(nodeId)
    const offset = String(position)
    const messages = [{ offset, isControlRecord: false }]
    while (nodeId === '2' && !first.isThrough) await nextTurn()
    return [new Batch('fw', offset, { partition: 0, highWatermark: '1', abortedTransactions: [], messages })]
  }
  const runner = new RunnerToTry({
    logger,
    instrumentationEmitter: { emit: nothing },
    concurrency: 2,
    onCrash: nothing,
    autoCommit: false,
    eachBatchAutoResolve: false,
    eachBatch: async ({ batch, resolveOffset }: Payload) => {
      handled.push(batch.fetchedOffset)
      while (asked.size < 2) await nextTurn()
      resolveOffset(batch.fetchedOffset)
      first.isThrough = true
    },
    consumerGroup: {
      inProgress: new Set<string>(),
      assigned: () => [{ topic: 'fw', partitions: [0] }],
      offsetManager: { nextOffset: () => position },
      resolveOffset: () => (position = 1),
      getNodeIds: () => ['1', '2'],
      heartbeat: () => Promise.resolve(),
      hasSeekOffset: () => false,
      fetch,
    },
  })
  runner.running = true
  runner.scheduleFetchManager()
  while (!first.isThrough) await nextTurn()
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  runner.running = false
  await runner.fetchManager.stop()
  return handled
}

describe('a batch that two brokers were asked for', () => {
  it('is handled twice by kafkajs', async () => {
    expect(await handledBy(original('consumer/runner.js') as RunnerClass)).toEqual(['0', '0'])
  })

  it('is handled once', async () => {
    expect(await handledBy(handleOnce(original('consumer/runner.js')) as RunnerClass)).toEqual(['0'])
  })
})

it('a partition is not asked for while a batch of it is handled', () => {
  type Group = {
    readonly inProgress: Set<string>
    readonly filterPartitionsByNode: (nodeId: string, assigned: readonly object[]) => readonly object[]
  }
  const AllByOne = class {
    filterPartitionsByNode(_nodeId: string, assigned: readonly object[]): readonly object[] {
      return assigned
    }
  }
  const group = new (fetchWhenHandled(AllByOne) as new () => Group)()
  group.inProgress.add('fw/1')
  expect(group.filterPartitionsByNode('1', [{ topic: 'fw', partitions: [0, 1] }])).toEqual([
    { topic: 'fw', partitions: [0] },
  ])
})

it('what arrives when its partition was lost is not handled, and ends nothing', async () => {
  const OffsetManager = original('consumer/offsetManager/index.js') as new (options: object) => object
  const RunnerToTry = handleOnce(original('consumer/runner.js')) as new (options: object) => {
    running: boolean
    readonly handleBatch: (batch: object) => Promise<void>
  }
  const handled: unknown[] = []
  const runner = new RunnerToTry({
    logger,
    instrumentationEmitter: { emit: nothing },
    autoCommit: false,
    eachBatch: (payload: unknown) => Promise.resolve(handled.push(payload)),
    consumerGroup: {
      inProgress: new Set<string>(),
      assigned: () => [],
      offsetManager: new OffsetManager({ memberAssignment: {} }),
      heartbeat: () => Promise.resolve(),
      hasSeekOffset: () => false,
    },
  })
  runner.running = true
  const messages = [{ offset: '0', isControlRecord: false }]
  await runner.handleBatch(
    new Batch('fw', '0', { partition: 0, highWatermark: '1', abortedTransactions: [], messages }),
  )
  expect(handled).toEqual([])
})
