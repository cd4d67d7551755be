// The program's pipeline for two topics of OpenTelemetry requests: `proto` in Protobuf and `json` in JSON.
import { openApp, type App, type AppOptions } from '../../src/app/open-app.js'
import { loadAny } from '../../src/app/load-config.js'
import type { Config } from '../../src/config/schema.js'
import type { Incoming } from '../../src/kafka/records.js'
import { ignoreTelemetry } from '../../src/telemetry/event.js'
import { someFeed } from './cli.js'

type OtlpSettings = {
  readonly batches?: 'inside' | 'split' | 'off'
  readonly output?: object
  readonly format?: object | string
}

export const otlpConfig = ({
  batches = 'inside',
  output = {},
  format = { proto: 'otlp_proto' },
}: OtlpSettings = {}): Config => {
  const values = {
    feeds: [{ name: 'mine', path: someFeed }],
    gate: { documentation: true },
    kafka: { input: { batches, format } },
    output,
  }
  const loaded = loadAny({ file: undefined, values, env: {}, readFile: () => '' })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  return loaded.config
}

export const openOtlpApp = async (settings?: OtlpSettings, replay?: AppOptions['replay']): Promise<App> => {
  const options: AppOptions = { mode: 'complete', env: {}, emit: ignoreTelemetry, ...(replay && { replay }) }
  const app = await openApp(otlpConfig(settings), options)
  if ('problems' in app) throw new Error(JSON.stringify(app.problems))
  return app
}

export const incoming = (topic: string, value: Buffer, more: Partial<Incoming> = {}): Incoming => ({
  topic,
  partition: 0,
  offset: '5',
  key: null,
  value,
  headers: [],
  timestamp: '1',
  origin: 'logs/0/5',
  ...more,
})
