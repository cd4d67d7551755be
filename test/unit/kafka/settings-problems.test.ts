import { describe, expect, it } from 'vitest'
import { kafkaSettingsOf } from '../../../src/app/limits.js'
import { load } from '../../../src/config/load.js'
import { type KafkaSettings, settingsProblems } from '../../../src/kafka/settings.js'
import { inputTopics } from '../../../src/kafka/topics.js'

const settings = (text: string): KafkaSettings => {
  const loaded = load({ file: { name: 'c.yaml', text }, env: {}, readFile: () => '' })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  return kafkaSettingsOf(loaded.config)
}
const fine = 'brokers: [localhost:9092], output: { topic: out }, deadLetterTopic: dead'

describe('kafka settings', () => {
  it('are accepted when they say what to read, what to write and where', () => {
    expect(settingsProblems(settings(`kafka: { ${fine}, input: { topics: [in] } }`))).toEqual([])
  })

  it.each(['input: { pattern: "in.*", format: { in-later: binary } }', 'input: { topics: [in], format: otlp_proto }'])(
    'are accepted with %s',
    (more) => {
      expect(settingsProblems(settings(`kafka: { ${fine}, ${more} }`))).toEqual([])
    },
  )

  it.each([
    [
      'avro',
      [
        'kafka.input.format must be text, registry, otlp_proto or binary, or one of these per topic, as `topic: format` lines',
      ],
    ],
    [
      '[text]',
      [
        'kafka.input.format must be text, registry, otlp_proto or binary, or one of these per topic, as `topic: format` lines',
      ],
    ],
  ])('refuse the format %s in words', (format, messages) => {
    const loaded = load({ values: {}, env: { THREATWEAVE_KAFKA_INPUT_FORMAT: format }, readFile: () => '' })
    const found = 'problems' in loaded ? loaded.problems : []
    expect(found.map(({ setting, message }) => `${setting} ${message}`)).toEqual(messages)
  })

  it('name everything that is missing', () => {
    expect(settingsProblems(settings('')).map(({ setting }) => setting)).toEqual([
      'kafka.brokers',
      'kafka.input.topics',
      'kafka.output.topic',
    ])
  })

  it.each([
    ['reads what it writes', 'input: { topics: [in, out] }', 'kafka.output.topic'],
    ['reads its alerts', 'input: { topics: [alerts] }, alertsTopic: alerts', 'kafka.alertsTopic'],
    ['reads its dead letters', 'input: { topics: [dead] }', 'kafka.deadLetterTopic'],
    [
      'has a certificate without its key',
      'input: { topics: [in] }, tls: { enabled: true, certificateFile: c }',
      'kafka.tls.keyFile',
    ],
    ['reads its verdicts', 'input: { topics: [seen] }, verdictsTopic: seen', 'kafka.verdictsTopic'],
    [
      'shares verdicts on another topic of its own',
      'input: { topics: [in] }, verdictsTopic: out',
      'kafka.verdictsTopic',
    ],
    ['signs with a key that is short', 'input: { topics: [in] }, verdictsKey: secret', 'kafka.verdictsKey'],
    ['names TLS files without TLS', 'input: { topics: [in] }, tls: { caFile: c }', 'kafka.tls.enabled'],
    ['has no password', 'input: { topics: [in] }, sasl: { mechanism: plain, username: u }', 'kafka.sasl.username'],
    ['has a format for another topic', 'input: { topics: [in], format: { on: binary } }', 'kafka.input.format.on'],
  ])('are refused when a service %s', (_what, more, setting) => {
    expect(settingsProblems(settings(`kafka: { ${fine}, ${more} }`)).map((problem) => problem.setting)).toEqual([
      setting,
    ])
  })
})

describe('topics by pattern', () => {
  it('are whole names, never internal ones and never one that we write', () => {
    const found = inputTopics(settings(`kafka: { ${fine}, input: { pattern: '.*(fw|out|dead|offsets)' } }`), [
      'a-fw',
      'a-fw-2',
      'out',
      'dead',
      '__consumer_offsets',
    ])
    expect(found).toEqual(['a-fw'])
  })
})
