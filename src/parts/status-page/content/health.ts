// The health of the program: a card per part, and the latest problems.
import { addEntries, describeEntries } from '../../../domain/entry-counts.js'
import type { AllowedCalls, ProviderState } from '../../../domain/provider-state.js'
import { skippedIn } from '../../../domain/skipped.js'
import { h, type Node } from '../markup/node.js'
import { formatCount, formatDuration, formatTime } from '../markup/numbers.js'
import { table } from '../markup/table.js'
import type { RecentActivity } from '../state/recent-activity.js'
import type { ShownFeed, ShownSource } from '../../../ops/page.js'
import type { Sentence, Tone } from './sentences.js'

type HealthSources = {
  readonly isServer: boolean
  readonly headline: Sentence
  readonly asking: Sentence
  readonly provider: ProviderState | undefined
  readonly allowed: AllowedCalls
  readonly feeds: readonly ShownFeed[]
  readonly sources: readonly ShownSource[] | undefined
  /** Absent in processes that read no events. */
  readonly events: { readonly lag: number; readonly partitions: number; readonly deadLetters: number } | undefined
  readonly recent: RecentActivity
  readonly now: number
}

export const healthNodes = (sources: HealthSources): readonly Node[] => {
  const { headline, asking, provider, allowed, feeds, events, recent, now } = sources
  const problems = recent
    .problems()
    .map(({ at, state, sentence, times }) => [
      h('span', { class: `state ${state}` }, state),
      sentence,
      formatTime(at).slice(0, 8),
      `${formatCount(times)} ×`,
    ])
  return [
    h(
      'ul',
      { class: 'cards' },
      card(
        'headline',
        sources.isServer ? 'Requests' : 'Events',
        headline.tone,
        headline.text,
        events && backlog(events),
      ),
      card('asking', 'Provider', asking.tone, asking.text, provider && spent(provider, allowed)),
      feedCard(feeds, now),
      ...(sources.sources ? [sourceCard(sources.sources)] : []),
    ),
    problems.length > 0 ? table('problems', 'Problems', ['State', 'Message', 'Last (UTC)', 'Times'], problems) : '',
  ].filter((node) => node !== '')
}

const words: Readonly<Record<Tone, string>> = { good: 'ok', warn: 'look', bad: 'bad', idle: 'none' }

const card = (id: string, title: string, tone: Tone, text: string, note: string | undefined): Node =>
  h(
    'li',
    { id: `card-${id}`, class: 'card', 'data-tone': tone },
    h('h3', {}, title, h('span', { class: `state ${tone}` }, words[tone])),
    h('p', { id }, text),
    note !== undefined && note !== '' && h('p', { class: 'soft' }, note),
  )

const backlog = ({ lag, partitions, deadLetters }: NonNullable<HealthSources['events']>): string =>
  `${formatCount(lag)} events wait in ${formatCount(partitions)} ${partitions === 1 ? 'partition' : 'partitions'}, ${formatCount(deadLetters)} dead letters`

/** The use of the hourly budget if there is one, else of the daily one. */
const spent = (
  { spent: { hour, day }, isGateway = false }: ProviderState,
  { hour: perHour, day: perDay, isDefault = false }: AllowedCalls,
): string => {
  if (perHour > 0) return `${formatCount(hour)} of ${formatCount(perHour)} credits used this hour`
  const limit =
    perDay === 0 || (isDefault && isGateway)
      ? ''
      : ` of ${formatCount(perDay)} allowed${isDefault ? ' by default' : ''}`
  // Without a limit nothing is counted.
  return limit === '' && day === 0 ? '' : `${formatCount(day)} credits used today${limit}`
}

const feedCard = (feeds: readonly ShownFeed[], now: number): Node => {
  const failing = feeds.filter(
    ({ state, problem, fetch }) => state !== 'loaded' || problem !== undefined || fetch?.error !== undefined,
  )
  const total = (of: (feed: ShownFeed) => number): number => feeds.reduce((sum, feed) => sum + of(feed), 0)
  const oldest = Math.min(...feeds.map(({ modified = now }) => modified))
  if (feeds.length === 0) return card('lists', 'Feeds', 'idle', 'None configured.', undefined)
  const text = `${describeEntries(addEntries(feeds), formatCount)} of ${formatCount(feeds.length)} ${feeds.length === 1 ? 'feed' : 'feeds'}`
  const skipped = total((feed) => skippedIn(feed.skipped))
  const note = [
    ...(failing.length > 0
      ? [
          `Look at ${failing
            .slice(0, 3)
            .map(({ name }) => name)
            .join(', ')}.`,
        ]
      : []),
    `Oldest copy: ${formatDuration(now - oldest)}.`,
    ...(skipped > 0 ? [`${formatCount(skipped)} entries skipped.`] : []),
  ]
  return card('lists', 'Feeds', failing.length > 0 ? 'warn' : 'good', `${text}.`, note.join(' '))
}

const sourceCard = (sources: readonly ShownSource[]): Node => {
  const away = sources.filter(({ state }) => state.state !== 'open')
  const text = `${formatCount(sources.length - away.length)} of ${formatCount(sources.length)} available`
  return card(
    'others',
    'Other providers',
    away.length > 0 ? 'warn' : 'good',
    `${text}.`,
    away.map(({ id }) => id).join(', '),
  )
}
