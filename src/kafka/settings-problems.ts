// What is wrong with the Kafka settings together, where each of them alone is valid.
import type { SettingProblem } from '../domain/problem.js'
import type { KafkaSettings } from './settings.js'
import { canWrite } from './wire/codecs.js'

export const settingsProblems = (settings: KafkaSettings): readonly SettingProblem[] => {
  const { brokers, input, output, deadLetterTopic, tls, sasl } = settings
  const { alertsTopic = '', sightingsTopic = '', correctionsTopic = '' } = settings
  const problems: SettingProblem[] = []
  const refuse = (setting: string, message: string): void => {
    problems.push({ setting: `kafka.${setting}`, message })
  }
  if (brokers.length === 0) refuse('brokers', 'must name at least one broker, as host:port')
  if (input.topics.length === 0 && input.pattern === '')
    refuse('input.topics', 'must name a topic to read, or input.pattern describe some')
  if (output.topic === '') refuse('output.topic', 'must name the topic to write')
  if (deadLetterTopic === '') refuse('deadLetterTopic', 'must name the topic for what the output topic cannot take')
  if (output.topic !== '' && output.topic === deadLetterTopic)
    refuse('deadLetterTopic', 'must be another topic than output.topic')
  for (const [setting, topic] of [
    ['output.topic', output.topic],
    ['deadLetterTopic', deadLetterTopic],
    ['alertsTopic', alertsTopic],
    ['sightingsTopic', sightingsTopic],
    ['correctionsTopic', correctionsTopic],
  ] as const)
    if (topic !== '' && input.topics.includes(topic))
      refuse(setting, `is also read: ${topic} would feed itself forever`)
  if (sightingsTopic !== '' && [output.topic, deadLetterTopic, alertsTopic, correctionsTopic].includes(sightingsTopic))
    refuse('sightingsTopic', 'must be a topic of its own: it is compacted')
  if (!canWrite(output.compression))
    refuse('output.compression', `cannot be ${output.compression} on this Node.js, which supports it from 22.15 on`)
  if ((tls.certificateFile === '') !== (tls.keyFile === ''))
    refuse('tls.keyFile', 'and tls.certificateFile go together')
  if (!tls.enabled && [tls.caFile, tls.certificateFile, tls.keyFile].some((file) => file !== ''))
    refuse('tls.enabled', 'must be true for the files of tls to be used')
  if (sasl.mechanism === 'oauthbearer' && sasl.tokenFile === '')
    refuse('sasl.tokenFile', 'must name the file with the token')
  if (
    ['plain', 'scram-sha-256', 'scram-sha-512'].includes(sasl.mechanism) &&
    (sasl.username === '' || sasl.password === '')
  )
    refuse('sasl.username', `and sasl.password are needed for ${sasl.mechanism}`)
  return problems
}
