// Runs log lines through the whole pipeline with the bundled rules and its own feeds, and collects the alerts.
import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { openAlerting } from '../../src/app/open-alerting.js'
import { openApp } from '../../src/app/open-app.js'
import { load } from '../../src/config/load.js'
import type { ByReason } from '../../src/domain/no-alert-reason.js'
import type { Emit } from '../../src/telemetry/event.js'
import type { Alerts } from '../../src/alerts/open-alerts.js'
import { allOf, eventsIn, type EventOut } from '../../src/pipeline/pipeline.js'
import type { RuleLevel } from '../../src/alerts/sigma/rule.js'
import { root } from './cli.js'

/** `rule`: the file name of a bundled rule, or the id of another rule. */
export type Raised = { readonly rule: string; readonly level: RuleLevel; readonly indicator: string }

export type Detection = {
  /** Returns the events of the lines and all their alerts, in order. */
  readonly detect: (lines: readonly string[]) => Promise<{
    readonly events: readonly EventOut[]
    readonly alerts: readonly (Raised & { readonly origin: string })[]
    /** Counts malicious events without an alert, by reason. */
    readonly withoutAlert: ByReason
  }>
  /** Forgets previous alerts, so that they suppress nothing. */
  readonly forget: () => Promise<void>
  readonly close: () => Promise<void>
}

const rulesFolder = join(root, 'rules')
const ruleNames: ReadonlyMap<string, string> = new Map(
  readdirSync(rulesFolder)
    .filter((file) => file.endsWith('.yml'))
    .map((file) => {
      const { id } = parse(readFileSync(join(rulesFolder, file), 'utf8')) as { readonly id: string }
      return [id, basename(file, '.yml')]
    }),
)

export const nameOfRule = (id: string): string => ruleNames.get(id) ?? id

/** Without a provider, indicators that are in no feed are unknown. `settings` are additional settings. */
export const openDetection = async (
  feeds: readonly Readonly<Record<string, unknown>>[],
  { gate, ...settings }: Readonly<Record<string, unknown>> = {},
): Promise<Detection> => {
  const values = {
    memory: { path: 'none' },
    feeds,
    ...settings,
    gate: { documentation: true, ...(gate as object | undefined) },
  }
  const loaded = load({ values, env: {}, readFile: () => '' })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const { config } = loaded
  let withoutAlert: ByReason = {}
  const emit: Emit = (event) => {
    if (event.event === 'accused_without_alert') withoutAlert = event.reasons
  }
  const openAlerts = async (): Promise<Alerts> => {
    const opened = await openAlerting(config, { emit })
    if ('problems' in opened) throw new Error(JSON.stringify(opened.problems))
    return opened
  }
  let alerts = await openAlerts()
  const app = await openApp(config, { mode: 'complete', env: {}, names: () => alerts.names() })
  if ('problems' in app) throw new Error(JSON.stringify(app.problems))
  let count = 0
  return {
    detect: async (lines) => {
      const chunk = lines.map((line) => ({
        bytes: Buffer.from(line),
        origin: `events/0/${count++}`,
        time: Date.UTC(2026, 10, 15, 8),
      }))
      const events = await allOf(app.pipeline, chunk)
      withoutAlert = {}
      const raised = alerts.raise(eventsIn(events)).map(({ rule, threat_match_value: indicator, threatweave }) => ({
        rule: nameOfRule(rule.id),
        level: threatweave.level,
        indicator: indicator ?? '',
        origin: threatweave.origin,
      }))
      return { events, alerts: raised, withoutAlert }
    },
    forget: async () => {
      if (alerts.status().raised === 0) return
      await alerts.close()
      alerts = await openAlerts()
    },
    close: async () => {
      await Promise.all([alerts.close(), app.close()])
    },
  }
}
