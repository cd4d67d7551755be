// The most frequent malicious and suspicious indicators of a replay, with their inside hosts.
import { eventsIn, type Pipeline } from '../../pipeline/pipeline.js'
import type { Annotation } from '../../domain/annotation.js'
import { insideHostsOf } from '../../domain/inside-host.js'

export type TopIndicator = {
  readonly type: string
  readonly value: string
  readonly verdict: 'malicious' | 'suspicious'
  readonly score?: number
  readonly events: number
  readonly inside_hosts: number
  /** Timestamps of the first and last record. */
  readonly first: string
  readonly last: string
}

export type TopHost = {
  readonly value: string
  readonly events: number
  readonly indicators: number
  readonly first: string
  readonly last: string
}

export type TopFindings = { readonly indicators: readonly TopIndicator[]; readonly insideHosts: readonly TopHost[] }

/** Bounds memory, because hostile events could contain any number of indicators. */
const maxCounted = 10_000
const maxShown = 20

type Entry = {
  annotation?: Annotation
  events: number
  readonly others: Set<string>
  first: number
  last: number
}

export const createTopFindings = () => {
  const indicators = new Map<string, Entry>()
  const hosts = new Map<string, Entry>()
  const count = (entries: Map<string, Entry>, key: string, time: number): Entry | undefined => {
    const entry = entries.get(key) ?? { events: 0, others: new Set<string>(), first: time, last: time }
    if (entry.events === 0 && entries.size >= maxCounted) return undefined
    entry.events++
    entry.first = Math.min(entry.first, time)
    entry.last = Math.max(entry.last, time)
    entries.set(key, entry)
    return entry
  }
  const see = (annotation: Annotation, time: number): void => {
    const { verdict, value, type } = annotation
    if ((verdict !== 'malicious' && verdict !== 'suspicious') || value === undefined) return
    const key = `${type ?? ''}:${value}`
    const entry = count(indicators, key, time)
    if (entry) entry.annotation = annotation
    for (const host of insideHostsOf(annotation)) {
      if (entry && entry.others.size < maxCounted) entry.others.add(host)
      const met = count(hosts, host, time)
      if (met && met.others.size < maxCounted) met.others.add(key)
    }
  }
  return {
    /** Wraps a pipeline to count its events. */
    observe: (pipeline: Pipeline, now: () => number): Pipeline =>
      Object.assign(
        ((chunk, use, wait) =>
          pipeline(
            chunk,
            (event, place) => {
              for (const one of eventsIn([event])) see(one.annotation, one.time ?? now())
              use(event, place)
            },
            wait,
          )) satisfies Pipeline,
        pipeline.cut ? { cut: pipeline.cut } : {},
        pipeline.prepare ? { prepare: pipeline.prepare } : {},
      ),
    read: (): TopFindings => ({
      indicators: top(indicators).flatMap(([, entry]): TopIndicator[] => {
        const { type = '', value = '', verdict, score } = entry.annotation ?? { verdict: 'unknown' }
        if (verdict !== 'malicious' && verdict !== 'suspicious') return []
        const { events, others } = entry
        return [
          {
            type,
            value,
            verdict,
            ...(score !== undefined && { score }),
            events,
            inside_hosts: others.size,
            ...timesOf(entry),
          },
        ]
      }),
      insideHosts: top(hosts).map(([value, entry]) => ({
        value,
        events: entry.events,
        indicators: entry.others.size,
        ...timesOf(entry),
      })),
    }),
  }
}

const top = (entries: ReadonlyMap<string, Entry>): readonly (readonly [string, Entry])[] =>
  [...entries].toSorted(([, a], [, b]) => b.events - a.events).slice(0, maxShown)

const timesOf = ({ first, last }: Entry): { first: string; last: string } => ({
  first: new Date(first).toISOString(),
  last: new Date(last).toISOString(),
})
