// An operation and its parameters become what is sent: method, path with query, form body; or the word on what is wrong.
import {
  operations,
  pathProfiles,
  type Operation,
  type OperationName,
  type Parameter,
  type PathProfile,
} from './operations.js'

export type GivenParameters = Readonly<Record<string, unknown>>
export type Request = { readonly method: 'GET' | 'POST'; readonly path: string; readonly form?: string }
type Paths = { readonly profile: PathProfile; readonly overrides: Readonly<Record<string, string>> }

const maxTextLength = 2048

export const buildRequest = (
  name: OperationName,
  given: GivenParameters,
  paths: Paths,
): Request | { readonly problem: string } => {
  const operation: Operation = operations[name]
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(operation.parameters, key))
  if (unknown !== undefined) return { problem: `${name} has no parameter ${unknown}` }
  let path = pathOf(name, paths)
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
    if (parameter.place === 'path') path = path.replace(`{${key}}`, text)
    else if (parameter.place === 'form') form.set(key, text)
    else if (parameter.kind !== 'boolean' || parameter.default !== undefined || text === 'true') query.set(key, text)
  }
  const search = query.size > 0 ? `?${query.toString()}` : ''
  return { method: operation.method, path: path + search, ...(form.size > 0 ? { form: form.toString() } : {}) }
}

const pathOf = (name: OperationName, { profile, overrides }: Paths): string =>
  (Object.hasOwn(overrides, name) ? overrides[name] : undefined) ?? pathProfiles[profile][name] ?? operations[name].path

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
