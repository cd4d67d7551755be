// Annotates an event from feeds and memory alone, without lookups, and finds the rules that match it.
import { candidatesOf, writtenCandidates } from '../../alerts/candidates.js'
import { chooseMatches } from '../../alerts/choose-matches.js'
import { whyNoAlert } from '../../alerts/why-no-alert.js'
import { loadConfiguredRules } from '../../app/check-file.js'
import { addIntelligenceFiles, type Files, type ReadingFiles } from '../../app/load-files.js'
import { openApp, type App } from '../../app/open-app.js'
import { openParts, type Scope } from '../../base/scope.js'
import { openRuleEvents } from '../../app/open-rule-events.js'
import { hasIntelligence } from '../../config/intelligence-problems.js'
import { accepted } from '../../config/load-config.js'
import type { Config } from '../../config/schema.js'
import type { Annotation } from '../../domain/annotation.js'
import type { Geo } from '../../domain/geo.js'
import type { NoAlertReason } from '../../domain/no-alert-reason.js'
import { parseObject, isObject } from '../../base/json-object.js'
import { allOf } from '../../pipeline/pipeline.js'
import type { Io } from '../../terminal/command.js'

type KnownValue = {
  readonly value: string
  readonly verdict: string
  readonly reason?: string
  readonly score?: number
  readonly country?: string
  readonly as?: NonNullable<Geo['as']>
  /** `feed:NAME`, or `service` for an answer in the memory. */
  readonly source?: string
  readonly at?: string
  readonly entry?: string
}

export type KnownAboutEvent = {
  readonly verdict: string
  readonly summary: string
  readonly values: readonly KnownValue[]
  /** The matching rules, each with its indicator. */
  readonly rules: readonly {
    readonly id: string
    readonly title: string
    readonly level: string
    readonly value?: string
  }[]
  /** Why no rule fires on a malicious or suspicious event. */
  readonly noAlert?: { readonly reason: NoAlertReason; readonly rule?: string }
}

export type OpenKnown = {
  /** `annotation`: the one written with the event, if any. */
  readonly of: (bytes: Buffer, annotation?: Annotation) => Promise<KnownAboutEvent>
  readonly close: () => Promise<void>
}

/** Undefined if neither feeds nor a memory are configured. */
export const openKnown = async (config: Config, reading: ReadingFiles, { env }: Io): Promise<OpenKnown | undefined> =>
  hasIntelligence(config) ? openParts((scope) => openKnownIn(scope, config, reading, env)) : undefined

const openKnownIn = async (
  scope: Scope,
  config: Config,
  reading: ReadingFiles,
  env: Io['env'],
): Promise<{ readonly of: OpenKnown['of'] }> => {
  const files = accepted<Files>(addIntelligenceFiles(config, reading))
  const app = scope.use(
    accepted<App>(
      await openApp(
        { ...config, output: { ...config.output, detail: 'full' } },
        {
          mode: 'complete',
          env,
          files,
          fetchesFeeds: false,
          // Replay mode reads the memory alongside a running writer and makes no paid calls.
          replay: { id: 'explain', isAnnotated: false },
          approve: () => Promise.resolve(false),
        },
      ),
    ),
  )
  const { set } = await loadConfiguredRules([], config)
  const ruleEventOf = openRuleEvents(config, files)
  return {
    of: async (bytes, written) => {
      const [event] = await allOf(app.pipeline, [{ bytes, origin: 'explain' }])
      const annotation = event?.annotation
      const values = annotation?.indicators ?? []
      const judged = written ?? annotation
      const whole = parseObject(event?.bytes() ?? bytes)
      const candidates = written
        ? writtenCandidates(written)
        : event
          ? candidatesOf(event.annotation, event.others)
          : []
      const ruleEvent = judged && isObject(whole) ? () => ruleEventOf(whole, judged) : undefined
      const matches = ruleEvent ? chooseMatches(set.match(candidates, ruleEvent)) : []
      const why =
        ruleEvent && matches.length === 0 ? whyNoAlert(candidates, event?.judged ?? [], set, ruleEvent) : undefined
      return {
        verdict: annotation?.verdict ?? 'unknown',
        summary: annotation?.summary ?? '',
        values: values.map(({ value, verdict, reason, score, country, as, source, at, entry }) => ({
          value,
          verdict,
          // This command never pays, so a spent budget means that the memory has no answer.
          ...(reason !== undefined && { reason: reason === 'budget_spent' ? 'not in memory' : reason }),
          ...(score !== undefined && { score }),
          ...(country !== undefined && { country }),
          ...(as !== undefined && { as }),
          ...(source !== undefined && { source }),
          ...(at !== undefined && { at }),
          ...(entry !== undefined && { entry }),
        })),
        rules: matches.map(({ rule: { id, title, level }, candidate: { value } }) => ({
          id,
          title,
          level,
          ...(value !== undefined && { value }),
        })),
        ...(why && { noAlert: { reason: why.reason, ...(why.rule && { rule: why.rule.title }) } }),
      }
    },
  }
}
