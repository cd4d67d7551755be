// Runs text events with made-up listings through production's reader, judgement and rules, without feed files.
import type { Listing, Finding } from '../../src/domain/finding.js'
import { unknownOf } from '../../src/domain/finding.js'
import { judge } from '../../src/domain/judge.js'
import type { Direction, Extraction } from '../../src/domain/sighting.js'
import type { Judged } from '../../src/domain/verdict.js'
import { candidatesOf } from '../../src/alerts/candidates.js'
import { chooseMatches } from '../../src/alerts/choose-matches.js'
import { ruleEventOf, type AnnotatedEvent } from '../../src/alerts/annotated-event.js'
import { openAlerts } from '../../src/alerts/open-alerts.js'
import type { Rule, RuleLevel } from '../../src/alerts/sigma/rule.js'
import { loadConfiguredRules } from '../../src/app/check-file.js'
import { openFormats } from '../../src/app/open-formats.js'
import { openReader } from '../../src/app/open-app.js'
import { tableOf } from '../../src/app/open-table.js'
import { accepted } from '../../src/config/load-config.js'
import { load } from '../../src/config/load.js'
import { createAnnotate } from '../../src/pipeline/annotate/annotate.js'
import type { Event } from '../../src/pipeline/event.js'
import { createNamedValues } from '../../src/pipeline/extract/named-values.js'
import { nameOfRule } from './detection.js'

/** By value. */
export type Accusations = Readonly<Record<string, readonly Accusation[]>>
export type Accusation = Pick<Listing, 'level' | 'categories'> & { readonly score?: number }

/** A read event, and the values in it that can be listed. */
export type ReadEvent = {
  readonly event: Event
  readonly extraction: Extraction
  readonly values: readonly string[]
}

export type Told = { readonly rule: string; readonly level: RuleLevel; readonly value: string }

const at = Date.UTC(2026, 10, 15, 8)

export const openListedEvents = async (settings: Readonly<Record<string, unknown>> = {}) => {
  const { gate, ...rest } = settings
  const values = { memory: { path: 'none' }, ...rest, gate: { documentation: true, ...(gate as object | undefined) } }
  const loaded = load({ values, env: {}, readFile: () => '' })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const { config } = loaded
  const reader = accepted(openReader(config))
  const { set } = await loadConfiguredRules([], config)
  const table = tableOf(config)
  const named = createNamedValues(openFormats(config.extract.formats).formats)

  const findingOf = (value: string, accusations: Accusations): Finding => {
    const listings = (accusations[value] ?? []).map((one, nth) => ({
      feed: `feed${nth}`,
      entry: value,
      copyAt: at,
      ...one,
    }))
    if (listings.length === 0) return unknownOf('not_listed')
    const categories = [...new Set(listings.flatMap((one) => one.categories))]
    return { status: 'known', facts: { flags: {}, categories, listings }, source: 'feed:feed0', at }
  }

  const annotate = createAnnotate({
    ...config.output,
    isAnnotatedInput: false,
    ownRanges: reader.gate.ownRanges,
    hasId: true,
  })

  /** The annotated event, judged with these listings. */
  const annotated = (
    { event, extraction }: Pick<ReadEvent, 'event' | 'extraction'>,
    accusations: Accusations,
  ): AnnotatedEvent => {
    const judged: readonly Judged[] = extraction.sightings.map((sighting) => {
      const decision = reader.decide(sighting)
      const finding = decision.decision === 'skip' ? unknownOf(decision.reason) : findingOf(sighting.value, accusations)
      return { sighting, decision, verdict: judge(finding, sighting, table, at) }
    })
    return annotate({ bytes: event.bytes, origin: 'events/0/1' }, event, extraction, judged)
  }

  let now = at
  const alerts = await openAlerts(config.alerts, {
    key: config.output.key,
    named,
  })
  if ('problems' in alerts) throw new Error(JSON.stringify(alerts.problems))

  return {
    read: (text: string): ReadEvent => {
      const event = reader.decode(Buffer.from(text))
      const extraction = reader.extract(event)
      const lookedUp = extraction.sightings.filter((one) => reader.decide(one).decision !== 'skip')
      return { event, extraction, values: [...new Set(lookedUp.map(({ value }) => value))] }
    },
    /** The reported matches of an event, worst first, and its direction. */
    tell: (
      event: Pick<ReadEvent, 'event' | 'extraction'>,
      accusations: Accusations,
    ): { readonly told: readonly Told[]; readonly direction: Direction } => {
      const one = annotated(event, accusations)
      const matches = chooseMatches(set.match(candidatesOf(one.annotation, one.others), () => ruleEventOf(one, named)))
      return {
        told: matches.map(({ rule, candidate }) => toldOf(rule, candidate.value)),
        direction: one.annotation.direction,
      }
    },
    /** The alerts of an event that is sent with the first listings and gets the later ones one after the other. */
    tellLate: (event: ReadEvent, [first, ...later]: readonly [Accusations, ...Accusations[]]): readonly Told[] => {
      // Past every suppression window, so that the previous event suppresses nothing.
      now += 30 * 86_400_000
      const annotatedNow = (accusations: Accusations): AnnotatedEvent =>
        Object.defineProperty(annotated(event, accusations), 'eventTime', { value: now })
      let fired: readonly string[] = []
      const raised = [...alerts.raise([annotatedNow(first)], (_, firings) => (fired = firings))]
      for (const accusations of later) {
        const late = alerts.raiseLate([{ event: annotatedNow(accusations), fired }])
        raised.push(...late.alerts)
        fired = late.fired[0] ?? fired
      }
      return raised.map(({ rule, threatweave, threat_match_value: value }) =>
        toldOf({ ...rule, level: threatweave.level }, value),
      )
    },
    close: alerts.close,
  }
}

const toldOf = ({ id, level }: Pick<Rule, 'id' | 'level'>, value = ''): Told => ({ rule: nameOfRule(id), level, value })
