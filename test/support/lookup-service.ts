// The lookup service with the sample intelligence, listening on loopback, and a client like curl.
import { ownReader } from './own-reader.js'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { openParts } from '../../src/base/scope.js'
import type { Gateway } from '../../src/server/gateway/gateway.js'
import { openServerState, startServer, type LookupServer, type ServeSettings } from '../../src/server/start-server.js'
import { ignoreTelemetry } from '../../src/telemetry/event.js'

type ServerOutside = Parameters<typeof startServer>[1]

export const sampleData = resolve(import.meta.dirname, '../../examples/intel')
export const sampleKey = 'Sample-key-of-the-tests-0123456789'

/** A day on which the newly registered domain of the sample is new. */
export const sampleNow = Date.parse('2026-11-15T12:00:00Z')

export const newFolder = (): string => mkdtempSync(join(tmpdir(), 'threatweave-test-'))

export const serveSettings = (over: Partial<ServeSettings> = {}): ServeSettings => ({
  host: '127.0.0.1',
  port: 0,
  data: sampleData,
  state: newFolder(),
  apiKey: sampleKey,
  plan: { inFlight: 64, credits: 0, perSecond: 0 },
  keysFile: '',
  tls: { certFile: '', keyFile: '', passphrase: '' },
  maxRows: 10_000,
  scan: { enabled: false, atOnce: 2, timeoutMs: 5_000, totalMs: 10_000, maxBytes: 65_536, maxRedirects: 5 },
  ...over,
})

export const serveOutside = (over: Partial<ServerOutside> = {}): ServerOutside => ({
  reader: ownReader,
  now: () => sampleNow,
  emit: ignoreTelemetry,
  version: '0.0.0',
  feeds: [],
  ...over,
})

export type Asked = { readonly http: number; readonly body: Body; readonly headers: Headers }
/** The fields of answers that tests use; each operation has some of them. */
export type Body = {
  readonly status: number
  readonly message: string
  readonly ip: string
  readonly is_malicious: boolean
  readonly issues: object
  readonly data: {
    readonly count: number
    readonly name: string
    readonly scan_id: number
    readonly scan_percentage: number
    readonly reports: readonly { readonly scan_id: number; readonly score?: string }[]
    readonly result: readonly { readonly ip_address: string }[]
    readonly summary: object
  }
  readonly upstream: { readonly waiting: number; readonly asking: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
}

export type AskOptions = {
  readonly key?: string | null
  readonly method?: string
  readonly form?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export const ask = async (url: string, path: string, options: AskOptions = {}): Promise<Asked> => {
  const { key = sampleKey, form, method, headers, body } = options
  const response = await fetch(url + path, {
    method: method ?? (form || body !== undefined ? 'POST' : 'GET'),
    headers: { ...(key === null ? {} : { 'x-api-key': key }), ...headers },
    ...(form ? { body: new URLSearchParams(form) } : body === undefined ? {} : { body }),
  })
  const text = await response.text()
  return { http: response.status, body: JSON.parse(text) as Body, headers: response.headers }
}

/** Closed at the end of the test. */
export const startSampleService = async (
  settings: Partial<ServeSettings> = {},
  {
    openGateway,
    ...outside
  }: Partial<ServerOutside> & {
    /** Receives the folder of the memory. */
    readonly openGateway?: (folder: string) => Promise<Gateway>
  } = {},
): Promise<LookupServer> => {
  const service = await openParts(async (scope) => {
    const all = serveSettings(settings)
    const state = await openServerState(scope, all, ignoreTelemetry)
    const gateway = scope.use(await openGateway?.(state.memoryFolder))
    return scope.use(await startServer(all, serveOutside({ ...outside, state, gateway })))
  })
  onTestFinished(service.close)
  return service
}
