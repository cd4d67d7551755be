// Answers wrong methods on known paths with 405 and the allowed methods.
import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'

/** `paths` are those of all routes with the methods of each. */
export const refuseOtherMethods = (
  app: FastifyInstance,
  paths: ReadonlyMap<string, readonly string[]>,
  refuse: (reply: FastifyReply) => FastifyReply,
): void => {
  // CONNECT never comes to a route.
  const known = METHODS.filter((method) => method !== 'CONNECT')
  for (const method of known) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  for (const [url, methods] of paths)
    app.route({
      method: known.filter((method) => !methods.includes(method)),
      url,
      // Before a body is read, whatever it is.
      onRequest: async (_, reply) => refuse(reply.header('allow', methods.join(', '))),
      handler: () => undefined,
    })
}
