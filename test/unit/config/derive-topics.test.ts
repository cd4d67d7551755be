import { expect, it } from 'vitest'
import { load } from '../../../src/config/load.js'

const topicsOf = (kafka: object, env: Readonly<Record<string, string>> = {}): object => {
  const loaded = load({ values: { kafka }, env, readFile: () => '' })
  if ('problems' in loaded) return expect.fail(JSON.stringify(loaded.problems))
  const { deadLetterTopic, alertsTopic, correctionsTopic, sightingsTopic, verdictsTopic } = loaded.config.kafka
  return { deadLetterTopic, alertsTopic, correctionsTopic, sightingsTopic, verdictsTopic }
}
const brokers = ['localhost:9092']
const all = {
  deadLetterTopic: 'fw-dead-letter',
  alertsTopic: 'fw-alerts',
  correctionsTopic: 'fw-corrections',
  sightingsTopic: 'fw-state',
  verdictsTopic: 'fw-verdicts',
}
const none = { deadLetterTopic: '', alertsTopic: '', correctionsTopic: '', sightingsTopic: '', verdictsTopic: '' }

it('topics that nobody named are named after the output topic', () => {
  expect(topicsOf({ brokers, output: { topic: 'fw' } })).toEqual(all)
})

it('a topic that was named keeps its name, and one that is set to nothing is switched off', () => {
  expect(topicsOf({ brokers, output: { topic: 'fw' }, alertsTopic: 'found', verdictsTopic: '' })).toEqual({
    ...all,
    alertsTopic: 'found',
    verdictsTopic: '',
  })
})

it('a variable that is set to nothing switches a topic off', () => {
  expect(topicsOf({ brokers, output: { topic: 'fw' } }, { THREATWEAVE_KAFKA_ALERTS_TOPIC: '' })).toEqual({
    ...all,
    alertsTopic: '',
  })
})

it.each([{ output: { topic: 'fw' } }, { brokers }])(
  'there are none without an output topic and brokers: %j',
  (kafka) => {
    expect(topicsOf(kafka)).toEqual(none)
  },
)
