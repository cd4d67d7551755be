// The OpenAPI description of the server, derived from the table of its routes.
import { operations, type OperationName, type Operation, type Parameter } from '../domain/operations.js'
import type { Json, JsonObject } from './answer.js'

const kinds: Readonly<Record<Parameter['kind'], JsonObject>> = {
  text: { type: 'string', maxLength: 2048 },
  whole: { type: 'integer', minimum: 0 },
  boolean: { type: 'boolean' },
  id: { type: 'integer', minimum: 0 },
}

export const describeOperations = (version: string): JsonObject => ({
  openapi: '3.1.0',
  info: {
    title: 'Threatweave lookup service',
    version,
    description:
      'Eighteen operations on threat intelligence. Success is HTTP 2xx and a body whose `status` is 200; most failures come as HTTP 200 with another `status` and a `message`.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  security: [{ apiKey: [] }],
  paths: {
    ...Object.fromEntries(
      (Object.keys(operations) as OperationName[]).flatMap((name) =>
        pathsOf(name).map((path, i) => [path, describePath(name, operations[name], i === 0 ? name : path)]),
      ),
    ),
    '/status': { get: plain('status', 'What the service holds, spent and waits for') },
    '/openapi.json': { get: { ...plain('openapi', 'This description'), security: [] } },
  },
  components: {
    securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
    schemas: {
      Failure: {
        type: 'object',
        required: ['status', 'message'],
        properties: { status: { type: 'integer', not: { const: 200 } }, message: { type: 'string' } },
      },
      Flat: {
        type: 'object',
        required: ['status', 'ip'],
        properties: { status: { const: 200 }, ip: { type: 'string' } },
      },
      Wrapped: {
        type: 'object',
        required: ['status', 'message', 'data'],
        properties: { status: { const: 200 }, message: { type: 'string' }, data: { type: 'object' } },
      },
    },
  },
})

const plain = (operationId: string, summary: string): JsonObject => ({
  operationId,
  summary,
  responses: { '200': { description: summary, content: { 'application/json': { schema: { type: 'object' } } } } },
})

const describePath = (name: OperationName, operation: Operation, operationId: string): JsonObject => {
  const parameters = Object.entries(operation.parameters)
  const form = parameters.filter(([, { place }]) => place === 'form')
  return {
    [operation.method.toLowerCase()]: {
      operationId,
      summary: operation.about,
      tags: [name.split('/')[0] ?? ''],
      parameters: parameters
        .filter(([, { place }]) => place !== 'form')
        .map(([key, parameter]) => describeParameter(key, parameter)),
      ...(form.length === 0 ? {} : { requestBody: describeForm(form) }),
      responses: {
        '200': {
          description: 'The answer, or a failure with status and message',
          content: {
            'application/json': {
              schema: {
                oneOf: [
                  { $ref: `#/components/schemas/${operation.envelope === 'flat' ? 'Flat' : 'Wrapped'}` },
                  { $ref: '#/components/schemas/Failure' },
                ],
              },
            },
          },
        },
        '429': failure('More calls per second than the plan allows; Retry-After has the wait'),
        '500': failure('The service failed'),
      },
    },
  }
}

const failure = (description: string): JsonObject => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
})

const schemaOf = ({ kind, default: value }: Parameter): JsonObject => ({
  ...kinds[kind],
  ...(value === undefined ? {} : { default: value satisfies Json }),
})

const describeParameter = (name: string, parameter: Parameter): JsonObject => ({
  name,
  in: parameter.place,
  required: parameter.place === 'path' || parameter.required === true,
  description: parameter.about,
  schema: schemaOf(parameter),
})

const describeForm = (form: readonly (readonly [string, Parameter])[]): JsonObject => {
  const schema = {
    type: 'object',
    required: form.filter(([, { required }]) => required).map(([name]) => name),
    properties: Object.fromEntries(form.map(([name, parameter]) => [name, schemaOf(parameter)])),
  }
  return {
    required: true,
    content: { 'application/x-www-form-urlencoded': { schema }, 'application/json': { schema } },
  }
}

const others: { readonly [name in OperationName]?: readonly string[] } = {
  'ip/malicious-info': ['/v1/feature/ip/malicious-info', '/v2/feature/ip/malicious-info'],
  'ip/privacy-threat': ['/v1/feature/ip/privacy-threat'],
  'ip/is_safe_dns_server': ['/v1/feature/ip/is_safe_dns_server', '/v1/feature/ip/is-safe-dns-server'],
  'ip/suspicious_info': ['/v1/feature/ip/suspicious-info', '/v1/ip/suspicious-info', '/v2/feature/ip/suspicious-info'],
  'domain/report': ['/v2/domain/report/{id}'],
}

/** All paths of an operation: the main one first, then aliases that clients use. */
export const pathsOf = (name: OperationName): readonly string[] => [operations[name].path, ...(others[name] ?? [])]
