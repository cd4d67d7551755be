// Names of topics that nobody named: that of the output topic with an ending, so that alerts, corrections and what is kept have a place by default.
import type { kafkaSettings } from './settings/kafka.js'
import type { Static } from '@sinclair/typebox'

const endings = {
  deadLetterTopic: '-dead-letter',
  alertsTopic: '-alerts',
  correctionsTopic: '-corrections',
  sightingsTopic: '-state',
  verdictsTopic: '-verdicts',
} as const

/** With the names that they have by default. */
export const topicsNamedAfter = (output: string): readonly string[] =>
  Object.values(endings).map((ending) => `${output}${ending}`)

type Derived = keyof typeof endings
type Written = Static<typeof kafkaSettings>

export type NamedTopics = Omit<Written, Derived> & { [name in Derived]: string } & {
  /** The topics among them that have their name from the output topic. */
  derivedTopics: string[]
}

export const deriveTopics = (kafka: Written): NamedTopics => {
  const { output, brokers } = kafka
  const derivedTopics: string[] = []
  const nameOf = (setting: Derived): string => {
    const written = kafka[setting]
    // Nobody reads or writes events without these.
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
