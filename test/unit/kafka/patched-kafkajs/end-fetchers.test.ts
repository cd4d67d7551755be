// What is compared: kafkajs's own runner and fetchers, stopped while the list of brokers changes.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { endFetchers } from '../../../../src/kafka/patched-kafkajs/end-fetchers.js'
import { original } from '../../../support/original-kafkajs.js'

type Runner = {
  running: boolean
  readonly scheduleFetchManager: () => void
  readonly fetchManager: { readonly stop: () => Promise<void> }
  readonly consuming: boolean
}

it('fetchers that are made while the consumer stops end with it', async () => {
  const nothing = (): void => undefined
  const logger = { info: nothing, debug: nothing, warn: nothing, error: nothing, namespace: () => logger }
  let nodeIds = ['1']
  let fetches = 0
  const RunnerWithEnd = endFetchers(original('consumer/runner.js')) as new (options: object) => Runner
  const runner = new RunnerWithEnd({
    logger,
    instrumentationEmitter: { emit: nothing },
    concurrency: 1,
    onCrash: nothing,
    consumerGroup: {
      getNodeIds: () => nodeIds,
      heartbeat: () => Promise.resolve(),
      fetch: async () => {
        fetches++
        await nextTurn()
        // The next fetch finds another list and begins anew; before it does, the consumer is stopped, and what there was to stop has ended.
        nodeIds = ['1', '2']
        runner.running = false
        return []
      },
    },
  })
  runner.running = true
  runner.scheduleFetchManager()
  while (runner.consuming) await nextTurn()
  expect(fetches).toBe(1)
})
