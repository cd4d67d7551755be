// The endpoint for those who run the program: health, readiness, metrics, the status page and its updates.
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Metrics } from '../telemetry/metrics.js'
import { createGuard, type Visitor } from './guard.js'
import type { Health } from './health.js'
import { contentSecurityPolicy, renderPage } from './page.js'
import type { Stream } from './stream.js'
import type { View } from './view.js'

export type OpsServerOptions = {
  readonly token: string
  readonly allowedHosts: readonly string[]
  readonly health: () => Health
  readonly readiness: () => Health
  readonly metrics: Metrics
  /** Without it there is no status page. */
  readonly view?: () => View
  /** Rows of setting and value, secrets already hidden. */
  readonly config: readonly (readonly [string, string])[]
  readonly stream: Stream
}

/** What anybody who reaches the port may ask. */
const open: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

const headers = {
  'cache-control': 'no-store',
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

const timeoutMs = 10_000
/** Those who run it and their monitoring; more would only take files from the stream. */
const maxConnections = 256

export const createOpsServer = (options: OpsServerOptions): FastifyInstance => {
  const { health, readiness, metrics, view, stream } = options
  const guard = createGuard(options.token, options.allowedHosts)
  const app = fastify({
    logger: false,
    bodyLimit: 1024,
    requestTimeout: timeoutMs,
    forceCloseConnections: true,
    keepAliveTimeout: timeoutMs,
    http: {
      maxHeaderSize: 8192,
      headersTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      connectionsCheckingInterval: 1000,
    },
  }) as unknown as FastifyInstance
  app.server.maxConnections = maxConnections

  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(headers)
    const visitor = visitorOf(request)
    if (!guard.knowsHost(visitor)) return reply.code(421).type('text/plain').send('this host is not known here\n')
    if (open.has(request.routeOptions.url ?? '') || guard.maySee(visitor)) return undefined
    if (options.token === '')
      return reply.code(403).type('text/plain').send('only for this machine, as long as no ops.token is set\n')
    return reply
      .code(401)
      .header('www-authenticate', 'Basic realm="threatweave", charset="UTF-8"')
      .type('text/plain')
      .send('a token is needed\n')
  })

  const answer = (reply: FastifyReply, { ok, problems }: Health): FastifyReply =>
    reply.code(ok ? 200 : 503).send({ status: ok ? 'ok' : 'bad', problems })

  app.get('/healthz', (_, reply) => answer(reply, health()))
  app.get('/readyz', (_, reply) => answer(reply, readiness()))
  app.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()))
  if (view) {
    app.get('/', (_, reply) => reply.type('text/html; charset=utf-8').send(renderPage(view(), options.config)))
    app.get('/events', { exposeHeadRoute: false }, (_, reply) => {
      if (!stream.hasRoom()) return reply.code(503).type('text/plain').send('too many are watching\n')
      reply.hijack()
      reply.raw.writeHead(200, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' })
      stream.add(reply.raw)
      return reply
    })
  }
  app.setNotFoundHandler((_, reply) => reply.code(404).type('text/plain').send('there is nothing here\n'))
  app.setErrorHandler((error, _, reply) => {
    const code = (error as { statusCode?: unknown } | null)?.statusCode
    const isTheirs = typeof code === 'number' && code >= 400 && code < 500
    return reply
      .code(isTheirs ? code : 500)
      .type('text/plain')
      .send(isTheirs ? 'bad request\n' : 'failed\n')
  })
  return app
}

/** What a proxy adds; a page does not get to see it without the token because a proxy is on this machine. */
const passedOn = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via'] as const

const visitorOf = ({ headers: given, socket }: FastifyRequest): Visitor => ({
  host: given.host,
  peer: socket.remoteAddress,
  forwarded: passedOn.some((name) => given[name] !== undefined),
  authorization: given.authorization,
})
