// A schema registry with the part of Confluent's HTTP API that we use; it counts requests and fails on demand.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export type RegistryServer = {
  readonly url: string
  readonly port: number
  /** Requested paths in order. */
  readonly asked: string[]
  readonly logins: (string | undefined)[]
  /** Registers a schema under an id, or under `subject/version` for references. */
  readonly put: (place: number | string, schema: object) => void
  /** Replaces the usual answer. */
  fail: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  readonly close: () => Promise<void>
}

export const startRegistry = async (port = 0): Promise<RegistryServer> => {
  const schemas = new Map<string, object>()
  const asked: string[] = []
  const logins: (string | undefined)[] = []
  const server = createServer((request, response) => {
    const { url = '' } = request
    asked.push(url)
    logins.push(request.headers.authorization)
    if (registry.fail) {
      registry.fail(request, response)
      return
    }
    const found = schemas.get(decodeURIComponent(url))
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/vnd.schemaregistry.v1+json' })
    response.end(JSON.stringify(found ?? { error_code: 40403, message: 'Schema not found' }))
  })
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    if (server.listening) await new Promise((done) => server.close(done))
  }
  onTestFinished(close)
  const { port: own } = server.address() as AddressInfo
  const registry: RegistryServer = {
    url: `http://127.0.0.1:${own}/apis`,
    port: own,
    asked,
    logins,
    put: (place, schema) => {
      const [subject, version] = String(place).split('/')
      const guid = typeof place === 'string' && place.length === 36
      schemas.set(
        typeof place === 'number'
          ? `/apis/schemas/ids/${place}`
          : guid
            ? `/apis/schemas/guids/${place}`
            : `/apis/subjects/${subject}/versions/${version}`,
        schema,
      )
    },
    fail: undefined,
    close,
  }
  return registry
}
