// The HTTP server: one route per path of each operation, authentication by API key, bounded input.
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { capConnections } from '../http/cap-connections.js'
import { refuseOtherMethods, refuseExpectations, refuseUnparsed } from '../http/refuse.js'
import { bulkHeader, passedOnHeader } from '../bulk/protocol.js'
import { operationNames, operations, type OperationName } from '../domain/operations.js'
import { ageHeader, feedMissingHeader } from '../provider/send.js'
import type { Emit } from '../telemetry/event.js'
import { refused, type OperationAnswer, type JsonObject, failures, type Failure } from './answer.js'
import type { Priority } from '../lookup/admission/queue.js'
import type { AnswerOperation } from './answer-locally.js'
import { acceptBulk, type BulkOptions } from '../bulk/accept-bulk.js'
import { createBulkShares } from '../bulk/bulk-shares.js'
import type { AnswerReader } from '../provider/answer-reader.js'
import type { IsAccused } from '../provider/ask-ip.js'
import { bulkSourceOf } from './bulk-source.js'
import type { PassOnOperation } from './gateway/pass-on-operations.js'
import { priorityOfKey, type Callers, type CallerResult } from './callers.js'
import { describeOperations, pathsOf } from './openapi.js'
import { readParameters, type RequestParameters } from './parameters.js'
import { readForm, readMultipart } from './read-form.js'

type ServerOptions = {
  readonly answer: AnswerOperation
  /** Reads answers in our own format. */
  readonly reader: AnswerReader
  readonly callers: Callers
  readonly status: () => JsonObject
  /** The gateway for lookups without local data. */
  readonly gateway?: BulkOptions['gateway']
  readonly shared?: BulkOptions['shared']
  /** The other gateways, if there is a leader election. */
  readonly others?: BulkOptions['others']
  readonly passOn?: PassOnOperation | undefined
  readonly sources?: BulkOptions['sources']
  /** Whether facts about an address are malicious or suspicious, by the judgement table. */
  readonly isAccused?: IsAccused | undefined
  /** Whether a feed is not in use, which every answer reports. */
  readonly isFeedMissing: () => boolean
  readonly version: string
  readonly emit: Emit
  readonly now: () => number
  /** PEM texts; absent: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly passphrase?: string }
}

const maxBodyBytes = 65_536
const maxHeaderBytes = 16_384
const requestTimeoutMs = 30_000
const keepAliveMs = 30_000
/** Connections need no key and take some 50 KB each with TLS, so idle ones are closed at this limit. */
const maxConnections = 4_096

export const createServer = (options: ServerOptions): FastifyInstance => {
  const {
    answer,
    reader,
    callers,
    status,
    gateway,
    shared,
    others,
    passOn,
    sources,
    isAccused,
    isFeedMissing,
    version,
    emit,
    now,
    tls,
  } = options
  const limits = {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    // Refused below with a JSON body; Node would send none.
    requireHostHeader: false,
  }
  const app = fastify({
    logger: false,
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 64 },
    clientErrorHandler: refuseUnparsed,
    frameworkErrors: (_error, _request, reply) => void refuse(reply, failures.badRequest),
    ...(tls ? { https: { ...limits, ...tls, minVersion: 'TLSv1.2' as const } } : { http: limits }),
  }) as FastifyInstance

  capConnections(app.server, { total: maxConnections })
  refuseExpectations(app.server)
  app.addHook('onRequest', async ({ raw }, reply) =>
    raw.httpVersion === '1.1' && raw.headers.host === undefined ? refuse(reply, failures.badRequest) : undefined,
  )
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, readForm)
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, readMultipart)

  const serve = async (
    name: OperationName,
    given: RequestParameters,
    entrance: CallerResult,
    priority: Priority,
  ): Promise<OperationAnswer> => {
    if ('failure' in entrance) return refused(entrance.failure)
    const { caller, leave } = entrance
    const ownPriority = priorityOfKey(caller.key, priority)
    try {
      const read = readParameters(name, given)
      if ('failure' in read) return refused(read.failure)
      if (name === 'user/me') return await answer(name, read.values, caller, ownPriority)
      const credit = callers.reserve(caller)
      if ('failure' in credit) return refused(credit.failure)
      let isSpent = false
      try {
        const answered = await answer(name, read.values, caller, ownPriority)
        isSpent = answered.ok
        return answered
      } finally {
        credit.settle(isSpent)
      }
    } finally {
      leave()
    }
  }
  const serveAndCount: typeof serve = async (name, ...rest) => {
    const started = now()
    const result = await serve(name, ...rest)
    const status = result.ok ? 200 : result.failure.status
    emit({ event: 'operation_answered', operation: name, status, ms: now() - started })
    return isFeedMissing() ? { ...result, isFeedMissing: true } : result
  }
  const passOnRequest = async (
    name: OperationName,
    request: FastifyRequest,
    ask: PassOnOperation,
  ): Promise<OperationAnswer | undefined> => {
    const apiKey = keyOf(request)
    const { urgency = 'live' } = priorityOf(request)
    const isPassedOn = request.headers[passedOnHeader] !== undefined
    return callers.identify(apiKey) && ask({ name, given: givenOf(request, name), apiKey, urgency, isPassedOn })
  }
  const serveRequest = async (
    name: OperationName,
    request: FastifyRequest,
  ): Promise<{ readonly result: OperationAnswer; readonly isLetIn: boolean }> => {
    const entrance = callers.enter(keyOf(request))
    const result = await serveAndCount(name, givenOf(request, name), entrance, priorityOf(request))
    return { result, isLetIn: !('failure' in entrance) }
  }
  const closeBulk = acceptBulk(app.server, {
    holderOf: (apiKey) => {
      const key = callers.identify(apiKey)?.key
      return key && { name: key.name, priorityOf: (asked) => priorityOfKey(key, asked) }
    },
    shares: createBulkShares(emit),
    sourceOf: bulkSourceOf({
      answer: async (name, given, key, priority) =>
        serveAndCount(name, given, await callers.enterWhenFree(key), priority),
      reader,
      isAccused,
      now,
    }),
    gateway,
    shared,
    others,
    sources,
    now,
  })
  app.addHook('preClose', (done) => {
    closeBulk()
    done()
  })
  const paths = new Map<string, readonly string[]>([
    ['/openapi.json', ['GET', 'HEAD']],
    ['/status', ['GET', 'HEAD']],
  ])
  for (const name of operationNames) {
    // Some clients ask for the account with GET.
    const methods = name === 'user/me' ? ['GET', 'POST'] : [operations[name].method]
    for (const path of pathsOf(name)) {
      const url = path.replace('{id}', ':id')
      const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods
      paths.set(url, [...(paths.get(url) ?? []), ...allowed])
      app.route({
        method: methods,
        url,
        handler: async (request, reply) => {
          const passed = passOn && (await passOnRequest(name, request, passOn))
          const { result, isLetIn } = passed ? { result: passed, isLetIn: true } : await serveRequest(name, request)
          if (isLetIn) void reply.header(bulkHeader, '1')
          if (result.isFeedMissing === true) void reply.header(feedMissingHeader, '1')
          const ageMs = result.at === undefined ? 0 : now() - result.at
          if (ageMs > 0) void reply.header(ageHeader, Math.round(ageMs))
          return result.ok ? reply.send(result.body) : refuse(reply, result.failure)
        },
      })
    }
  }
  app.get('/openapi.json', () => describeOperations(version))
  app.get('/status', (request, reply) =>
    callers.identify(keyOf(request)) ? reply.send(status()) : refuse(reply, failures.badKey),
  )
  refuseOtherMethods(app, paths, (reply) => refuse(reply, failures.wrongMethod))
  app.setNotFoundHandler((_, reply) => refuse(reply, failures.noSuchPath))
  app.setErrorHandler((error, _, reply) => {
    const failure = failureOf(error)
    if (failure === failures.serverError)
      emit({ event: 'operation_failed', message: error instanceof Error ? error.message : 'unknown' })
    return refuse(reply, failure)
  })
  return app
}

/** A single request is urgent by default; replayed history yields. */
const priorityOf = ({ headers }: FastifyRequest): Priority => ({
  role: 'destination',
  action: 'allowed',
  urgency: headers['x-threatweave-urgency'] === 'replay' ? 'replay' : 'live',
})

const keyOf = ({ headers }: FastifyRequest): string | undefined => {
  const key = headers['x-api-key']
  return typeof key === 'string' && key !== '' ? key : undefined
}

const refuse = (reply: FastifyReply, { http, status, message, retryAfterS }: Failure): FastifyReply => {
  if (retryAfterS !== undefined) void reply.header('retry-after', retryAfterS)
  return reply.code(http).send({ status, message })
}

/** Reads the body only for operations with a form, and ignores it otherwise. */
const givenOf = ({ params, query, body }: FastifyRequest, name: OperationName): Record<string, unknown> => {
  const takesForm = Object.values(operations[name].parameters).some(({ place }) => place === 'form')
  const form = takesForm && typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {}
  return { ...(query as object), ...form, ...(params as object) }
}

const failureOf = (error: unknown): Failure => {
  const code = (error as { statusCode?: unknown } | null)?.statusCode
  if (code === 413) return failures.tooLarge
  if (code === 415) return failures.badMediaType
  return typeof code === 'number' && code >= 400 && code < 500 ? failures.badRequest : failures.serverError
}
