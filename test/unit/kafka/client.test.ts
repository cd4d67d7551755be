import { expect, it } from 'vitest'
import { kafkaSettingsOf } from '../../../src/app/limits.js'
import { load } from '../../../src/config/load.js'
import { createClient } from '../../../src/kafka/client.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'

it('an error that kafkajs logs in place of a message is logged, and does not end the consumer', () => {
  const loaded = load({ values: { kafka: { brokers: ['127.0.0.1:9'] } }, env: {}, readFile: () => '' })
  if (!('config' in loaded)) return expect.fail(JSON.stringify(loaded))
  const emitted: TelemetryEvent[] = []
  const logger = createClient(kafkaSettingsOf(loaded.config), (event) => void emitted.push(event)).logger()
  logger.error(new Error('the token is refused') as unknown as string)
  logger.warn('a broker is slow', { error: 'timed out' })
  expect(emitted).toMatchObject([
    { event: 'kafka_client_warned', message: 'the token is refused' },
    { event: 'kafka_client_warned', message: 'a broker is slow: timed out' },
  ])
})
