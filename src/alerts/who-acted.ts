// Finds the users and sources of an event, for the update about suppressed matches.
import { ownText } from '../base/bounded-cache.js'
import type { AnnotatedEvent } from './annotated-event.js'
import type { Candidate } from './candidates.js'
import { createReadEvent, type ReadEvent, type RuleEvent } from './event-field.js'

export type WhoActed = { readonly users: readonly string[]; readonly sources: readonly string[] }

const readUsers = ['user.name', 'username'].map(createReadEvent)
const readSources = ['source.address'].map(createReadEvent)
const maxName = 256
const none: readonly string[] = []

/** The names and phrases of these fields in JSON, and the escape that can spell any of them: an event without any need not be parsed. */
const spellings = /user|actor|account name|for |login|address|\\u/i

export const whoActed = (
  one: Pick<AnnotatedEvent, 'event' | 'extraction'>,
  candidate: Candidate,
  event: () => RuleEvent,
): WhoActed => {
  const { bytes, reading } = one.event
  // The event must not have named values in its text, either.
  if (reading === 'json' && one.extraction.noted?.isNothing === true && !spellings.test(bytes.toString('latin1')))
    return { users: none, sources: firstSource(one) }
  return { users: namesIn(readUsers, event(), candidate), sources: namesIn(readSources, event(), candidate) }
}

const firstSource = ({ extraction }: Pick<AnnotatedEvent, 'extraction'>): readonly string[] => {
  for (const { role, value } of extraction.sightings) if (role === 'source') return [ownText(value.slice(0, maxName))]
  return none
}

const namesIn = (reads: readonly ReadEvent[], event: RuleEvent, candidate: Candidate): readonly string[] => {
  const found = reads.flatMap((read) => read(event, candidate) ?? [])
  return [...new Set(found.filter((one) => typeof one === 'string').map((one) => ownText(one.slice(0, maxName))))]
}
