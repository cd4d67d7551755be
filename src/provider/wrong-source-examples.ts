// Runs the examples of a source, and reports those with another result than stated.
import { parseAddress } from '../domain/address.js'
import type { Facts } from '../domain/finding.js'
import { parseHostname } from '../domain/hostname.js'
import type { Indicator } from '../domain/indicator.js'
import { urlFor, type SourceDescription, type SourceExample } from '../domain/source-description.js'
import { readReply } from './source-client.js'

type WrongExample = { readonly nth: number; readonly message: string }

export const wrongExamples = (source: SourceDescription): readonly WrongExample[] =>
  source.examples.flatMap((example, nth) => {
    const message = whyWrong(source, example)
    return message === undefined ? [] : [{ nth, message }]
  })

const whyWrong = (source: SourceDescription, example: SourceExample): string | undefined => {
  const indicator = indicatorOf(example.asked)
  if (!indicator || urlFor(source, indicator) === undefined) return `asks about ${example.asked}, which has no request`
  const reply = readReply(
    source,
    indicator,
    { http: example.status, body: () => ({ body: example.answer ?? {} }) },
    Date.now(),
  )
  if (reply.status === 'failure') {
    const { reason, detail } = reply.failure
    return reason === example.gives ? undefined : `should give ${example.gives} and gives ${reason}: ${detail}`
  }
  const { level, ...given } = outcomeOf(reply.facts)
  if (level !== example.gives) return `should give ${example.gives} and gives ${level}`
  for (const name of ['score', 'categories', 'flags'] as const) {
    const wanted = textOf(example[name])
    if (example[name] !== undefined && wanted !== textOf(given[name]))
      return `should give ${name} ${wanted} and gives ${textOf(given[name])}`
  }
  return undefined
}

const indicatorOf = (asked: string): Indicator | undefined => {
  const address = parseAddress(asked)
  if (address !== undefined) return { type: 'ip', value: address }
  const name = parseHostname(asked)
  return name === undefined ? undefined : { type: 'domain', value: name }
}

const outcomeOf = ({ listings, clearedBy, described = {} }: Facts) => {
  const [listing] = listings ?? []
  return {
    level: listing?.level ?? (clearedBy ? 'clean' : 'nothing'),
    score: listing?.score,
    categories: listing?.categories ?? [],
    flags: Object.entries(described).flatMap(([name, isTrue]) => (isTrue ? [name] : [])),
  }
}

const textOf = (value: number | readonly string[] | undefined): string =>
  Array.isArray(value) ? `[${value.toSorted().join(', ')}]` : String(value ?? 'none')
