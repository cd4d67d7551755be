// The HTTP server of the ops endpoint: health, readiness, metrics, status page and its live updates.
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { capConnections } from '../http/cap-connections.js'
import { refuseOtherMethods, refuseExpectations, refuseUnparsed } from '../http/refuse.js'
import type { Metrics } from '../telemetry/metrics.js'
import { createGuard, type OpsClient } from './guard.js'
import type { Health } from './health.js'
import type { WatcherStream } from './watcher-stream.js'

type Answer =
  { readonly type: string; readonly body: string } | { readonly refused: string; readonly status: 400 | 404 }

/** The status page, as seen by the server. */
export type OpsPage = {
  readonly contentSecurityPolicy: string
  /** The handler of each path. */
  readonly paths: Readonly<Record<string, (query: Readonly<Record<string, unknown>>) => Answer>>
  /** Called once a second. */
  readonly tick: () => void
  /** The full view, for a new watcher. */
  readonly whole: () => unknown
  /** The changes since the last call; undefined if there are none. */
  readonly changes: () => unknown
}

type OpsServerOptions = {
  readonly token: string
  readonly allowedHosts: readonly string[]
  readonly health: () => Health
  readonly readiness: () => Health
  readonly metrics: Metrics
  readonly page: OpsPage | undefined
  readonly stream: WatcherStream
}

/** Paths that need no token. */
const open: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

const headersWith = (contentSecurityPolicy: string) => ({
  'cache-control': 'no-store',
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
})

const timeoutMs = 10_000
/** Enough for operators and monitoring; more would use up file descriptors. */
const connections = { total: 256, perPeer: 64 }

export const createOpsServer = (options: OpsServerOptions): FastifyInstance => {
  const { health, readiness, metrics, page, stream } = options
  const headers = headersWith(page?.contentSecurityPolicy ?? "default-src 'none'")
  const guard = createGuard(options.token, options.allowedHosts)
  const app = fastify({
    logger: false,
    bodyLimit: 1024,
    requestTimeout: timeoutMs,
    forceCloseConnections: true,
    keepAliveTimeout: timeoutMs,
    clientErrorHandler: refuseUnparsed,
    frameworkErrors: (_error, _request, reply) => void refuse(reply, 400, 'bad request'),
    http: {
      maxHeaderSize: 8192,
      headersTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      connectionsCheckingInterval: 1000,
      // Requests without a host are refused below, with a JSON body.
      requireHostHeader: false,
    },
  }) as unknown as FastifyInstance
  capConnections(app.server, connections)
  refuseExpectations(app.server)

  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(headers)
    const client = clientOf(request)
    if (!guard.knowsHost(client)) return refuse(reply, 421, 'unknown host')
    if (open.has(request.routeOptions.url ?? '') || guard.maySee(client)) return undefined
    if (options.token === '') return refuse(reply, 403, 'only available on this machine unless ops.token is set')
    void reply.header('www-authenticate', 'Basic realm="threatweave", charset="UTF-8"')
    return refuse(reply, 401, 'token required')
  })

  const answer = (reply: FastifyReply, { ok, problems }: Health): FastifyReply =>
    reply.code(ok ? 200 : 503).send({ status: ok ? 'ok' : 'bad', problems })

  app.get('/healthz', (_, reply) => answer(reply, health()))
  app.get('/readyz', (_, reply) => answer(reply, readiness()))
  app.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()))
  const pages = Object.entries(page?.paths ?? {})
  for (const [path, answerTo] of pages)
    app.get(path, ({ query }, reply) => {
      const answered = answerTo(query as Record<string, unknown>)
      return 'refused' in answered
        ? refuse(reply, answered.status, answered.refused)
        : reply.type(answered.type).send(answered.body)
    })
  app.get('/events', { exposeHeadRoute: false }, (_, reply) => {
    if (!stream.hasRoom()) return refuse(reply, 503, 'too many watchers')
    reply.hijack()
    reply.raw.writeHead(200, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' })
    stream.add(reply.raw, page?.whole())
    return reply
  })
  const paths = new Map([...open, ...pages.map(([path]) => path)].map((path) => [path, ['GET', 'HEAD']]))
  paths.set('/events', ['GET'])
  refuseOtherMethods(app, paths, (reply) => refuse(reply, 405, 'method not allowed'))
  app.setNotFoundHandler((_, reply) => refuse(reply, 404, 'not found'))
  app.setErrorHandler((error, _, reply) => {
    const code = (error as { statusCode?: unknown } | null)?.statusCode
    const isClientError = typeof code === 'number' && code >= 400 && code < 500
    return isClientError ? refuse(reply, code, 'bad request') : refuse(reply, 500, 'failed')
  })
  return app
}

const refuse = (reply: FastifyReply, status: number, message: string): FastifyReply =>
  reply.code(status).send({ status, message })

/** Headers that proxies add: a proxy on this machine must not make every client look local. */
const forwardedHeaders = [
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'forwarded',
  'via',
] as const

const clientOf = ({ headers: given, socket }: FastifyRequest): OpsClient => ({
  host: given.host,
  peer: socket.remoteAddress,
  forwarded: forwardedHeaders.some((name) => given[name] !== undefined),
  authorization: given.authorization,
})
