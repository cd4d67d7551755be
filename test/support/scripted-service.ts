// A real HTTP server on loopback that answers from a script and counts requests.
import { bundledProfile } from '../../src/app/open-profile.js'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Call } from '../../src/domain/lookup.js'
import { createClient, type Client, type ProviderSettings } from '../../src/provider/client.js'
import { operations, operationNames, type OperationName } from '../../src/domain/operations.js'
import { stringify } from 'yaml'
import { readProfileFile } from '../../src/config/profile-file.js'
import type { ServiceProfile } from '../../src/domain/service-profile.js'
import { fixture } from './service-fixtures.js'

export type Asked = {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly form: Readonly<Record<string, string>>
  readonly key: string | undefined
  readonly contentType: string | undefined
}
/** A body to send with status 200, or full control of the response. */
export type Script = (asked: Asked, response: ServerResponse) => unknown

export type ScriptedService = {
  readonly baseUrl: string
  readonly asked: Asked[]
  readonly mostInFlight: () => number
  script: Script
  readonly close: () => Promise<void>
}

export const testKey = 'Planted0Key1That2Must3Never4Show5Anywhere6At7All8Planted9Key'

export const startScriptedService = async (script: Script): Promise<ScriptedService> => {
  const asked: Asked[] = []
  let inFlight = 0
  let most = 0
  const server = createServer((request, response) => {
    most = Math.max(most, ++inFlight)
    response.on('close', () => inFlight--)
    read(request).then(
      (entry) => {
        asked.push(entry)
        const body = service.script(entry, response)
        if (body !== undefined) response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const service: ScriptedService = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    mostInFlight: () => most,
    script,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return service
}

const read = async (request: IncomingMessage): Promise<Asked> => {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  const url = new URL(request.url ?? '/', 'http://localhost')
  const key = request.headers['x-api-key']
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    form: Object.fromEntries(new URLSearchParams(text)),
    key: typeof key === 'string' ? key : undefined,
    contentType: request.headers['content-type'],
  }
}

/** Answers every operation with its example for any address, if the key is right. */
export const replayExamples: Script = (asked) => {
  if (asked.key !== testKey) return { status: 401, message: 'Invalid API Key' }
  const name = operationNames.find((operation) => {
    const { method, path } = operations[operation]
    return (
      method === asked.method && [path, featurePaths[operation] ?? path].some((known) => matches(known, asked.path))
    )
  })
  if (name === undefined) return { status: 404, message: 'no such path' }
  if (name.startsWith('ip/')) {
    if (!/^\d+\.\d+\.\d+\.\d+$/.test(asked.query.ip ?? '')) return { status: 400, message: 'Invalid IP Address.' }
    if (asked.query.ip?.startsWith('10.')) return { status: 400, message: 'Invalid IP Address.' }
  }
  if (Number(asked.query.offset ?? 0) > 9900) return { status: 400, message: 'offset too high' }
  if (asked.path.endsWith('/0')) return { status: 400, message: 'no such scan' }
  const body = fixture(name.replaceAll('/', '-'))
  return name.startsWith('ip/') ? { ...body, ip: asked.query.ip } : body
}

const matches = (known: string, path: string): boolean =>
  known.endsWith('{id}')
    ? path.startsWith(known.slice(0, -4)) && !path.slice(known.length - 4).includes('/')
    : path === known

/** The paths that most public clients use for four operations. */
export const featurePaths: { readonly [name in OperationName]?: string } = {
  'ip/malicious-info': '/v1/feature/ip/malicious-info',
  'ip/privacy-threat': '/v1/feature/ip/privacy-threat',
  'ip/is_safe_dns_server': '/v1/feature/ip/is_safe_dns_server',
  'ip/suspicious_info': '/v1/feature/ip/suspicious-info',
}

/** The bundled profile with different paths. */
export const profileWithPaths = (paths: { readonly [name in OperationName]?: string }): ServiceProfile =>
  profileOver(stringify({ basePath: '', operations: spelled({ ...ownPaths, ...paths }) }))

const ownPaths = Object.fromEntries(operationNames.map((name) => [name, operations[name].path]))
const spelled = (paths: object) =>
  Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, { path: String(path) }]))

/** A profile from text that overlays the bundled one. */
export const profileOver = (text: string): ServiceProfile => {
  const read = readProfileFile({ name: 'mine.yaml', text }, bundledProfile())
  if ('problems' in read) throw new Error(JSON.stringify(read.problems))
  return read.profile
}

export const settingsFor = (baseUrl: string, over: Partial<ProviderSettings> = {}): ProviderSettings => ({
  baseUrl,
  apiKey: testKey,
  profile: bundledProfile(),
  concurrency: 1,
  allowHttp: false,
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  maxAnswerBytes: 4_194_304,
  maxAnswerDepth: 32,
  ...over,
})

export const clientFor = (
  baseUrl: string,
  over: Partial<ProviderSettings> = {},
  now: () => number = Date.now,
): Client => createClient(settingsFor(baseUrl, over), { env: {}, now })

/** Admission without limits. */
export const straight: Call = (send) => send()
