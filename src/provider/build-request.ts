// Builds a request from an operation and its parameters by the service profile: method, path with query, form body; or a problem.
import { operations, type Operation, type OperationName, type Parameter } from '../domain/operations.js'
import type { ServiceProfile } from '../domain/service-profile.js'

export type GivenParameters = Readonly<Record<string, unknown>>
export type Request = { readonly method: 'GET' | 'POST'; readonly path: string; readonly form?: string }
const maxTextLength = 2048

export const buildRequest = (
  name: OperationName,
  given: GivenParameters,
  profile: ServiceProfile,
): Request | { readonly problem: string } => {
  const operation: Operation = operations[name]
  const spelled = profile.operations[name]
  if (!spelled) return { problem: `the profile of the service has no ${name}` }
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(operation.parameters, key))
  if (unknown !== undefined) return { problem: `${name} has no parameter ${unknown}` }
  let path = profile.basePath + spelled.path
  const query = new URLSearchParams()
  const form = new URLSearchParams()
  for (const [key, parameter] of Object.entries(operation.parameters)) {
    const value = Object.hasOwn(given, key) ? given[key] : undefined
    const text = textFor(value ?? parameter.default, parameter)
    if (text === undefined) {
      if (value !== undefined) return { problem: `${key} must be ${wanted[parameter.kind]}` }
      if (parameter.required) return { problem: `${name} needs ${key}: ${parameter.about}` }
      continue
    }
    const theirs = spelled.parameters?.[key] ?? key
    if (path.includes(`{${key}}`)) path = path.replace(`{${key}}`, () => encodeURIComponent(text))
    else if (theirs === '') continue
    else if (spelled.method === 'POST') form.set(theirs, text)
    else if (parameter.kind !== 'boolean' || parameter.default !== undefined || text === 'true') query.set(theirs, text)
  }
  const search = query.size > 0 ? `${path.includes('?') ? '&' : '?'}${query.toString()}` : ''
  return { method: spelled.method, path: path + search, ...(form.size > 0 ? { form: form.toString() } : {}) }
}

const wanted = {
  text: `text of at most ${maxTextLength} characters`,
  whole: 'a whole number',
  boolean: 'true or false',
  id: 'the number of a scan',
} as const

const textFor = (value: unknown, { kind }: Parameter): string | undefined => {
  const text =
    typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
  if (text === '') return undefined
  switch (kind) {
    case 'text':
      return text.length <= maxTextLength ? text : undefined
    case 'whole':
      return /^\d{1,9}$/.test(text) ? text : undefined
    case 'boolean':
      return text === 'true' || text === 'false' ? text : undefined
    case 'id':
      return /^[A-Za-z0-9_-]{1,64}$/.test(text) ? text : undefined
  }
}
