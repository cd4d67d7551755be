// Default names for the topics of alerts, corrections and state: the output topic plus a suffix.
import type { kafkaSettings } from './settings/kafka.js'
import type { Static } from '@sinclair/typebox'

const endings = {
  deadLetterTopic: '-dead-letter',
  alertsTopic: '-alerts',
  correctionsTopic: '-corrections',
  sightingsTopic: '-state',
  verdictsTopic: '-verdicts',
} as const

/** The default names that belong to an output topic. */
export const topicsNamedAfter = (output: string): readonly string[] =>
  Object.values(endings).map((ending) => `${output}${ending}`)

type Derived = keyof typeof endings
type Written = Static<typeof kafkaSettings>

export type NamedTopics = Omit<Written, Derived> & { [name in Derived]: string } & {
  /** The settings whose topic has a default name. */
  derivedTopics: string[]
}

export const deriveTopics = (kafka: Written): NamedTopics => {
  const { output, brokers } = kafka
  const derivedTopics: string[] = []
  const nameOf = (setting: Derived): string => {
    const written = kafka[setting]
    // Without brokers and an output topic Kafka is not used.
    if (written !== undefined || output.topic === '' || brokers.length === 0) return written ?? ''
    const name = `${output.topic}${endings[setting]}`
    derivedTopics.push(name)
    return name
  }
  return {
    ...kafka,
    deadLetterTopic: nameOf('deadLetterTopic'),
    alertsTopic: nameOf('alertsTopic'),
    correctionsTopic: nameOf('correctionsTopic'),
    sightingsTopic: nameOf('sightingsTopic'),
    verdictsTopic: nameOf('verdictsTopic'),
    derivedTopics,
  }
}
