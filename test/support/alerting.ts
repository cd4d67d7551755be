// The alerts that rules raise on log lines, with the sample feed as intelligence.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Alert } from '../../src/alerts/alert.js'
import { openAlerting } from '../../src/app/open-alerting.js'
import { openApp } from '../../src/app/open-app.js'
import { loadAny } from '../../src/app/load-config.js'
import { allOf, type EventOut } from '../../src/pipeline/pipeline.js'
import { root } from './cli.js'

/** `see` receives the annotated events. */
export type Alerting = (
  lines: readonly string[],
  see?: (events: readonly EventOut[]) => void,
) => Promise<readonly Alert[]>

/** `values`: additional settings. */
export const openTestAlerting = async (
  rules: readonly string[],
  values: Readonly<Record<string, unknown>> = {},
): Promise<Alerting> => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-alerting-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  rules.forEach((text, n) => {
    writeFileSync(join(folder, `${n}.yml`), text)
  })
  const loaded = loadAny({
    values: {
      memory: { path: 'none' },
      gate: { documentation: true },
      feeds: [{ name: 'sample', path: join(root, 'examples/feeds/sample-feed.csv') }],
      alerts: { rules: [folder], bundled: false },
      ...values,
    },
    env: {},
    readFile: () => '',
  })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const alerts = await openAlerting(loaded.config, {})
  if ('problems' in alerts) throw new Error(JSON.stringify(alerts))
  const app = await openApp(loaded.config, { mode: 'live', env: {}, names: alerts.names })
  if ('problems' in app) throw new Error(JSON.stringify(app))
  onTestFinished(() => Promise.all([app.close(), alerts.close()]).then(() => undefined))
  return async (lines, see) => {
    const time = Date.UTC(2026, 10, 15, 12)
    const chunk = lines.map((line, n) => ({ bytes: Buffer.from(line), origin: `firewall/0/${n}`, time }))
    const events = await allOf(app.pipeline, chunk)
    see?.(events)
    return alerts.raise(events)
  }
}
