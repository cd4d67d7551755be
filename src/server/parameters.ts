// Validates the parameters of a request against the table of operations; returns values or a failure.
import { formatAddress, readAddress } from '../domain/address.js'
import { isInside } from '../domain/special-ranges.js'
import { operations, type Operation, type OperationName, type Parameter } from '../domain/operations.js'
import { failures, invalidParameter, missingParameter, type Failure } from './answer.js'
import { highestOffset } from './local/search.js'

export type Values = { readonly [name: string]: string | number | boolean | undefined }
export type RequestParameters = Readonly<Record<string, unknown>>

const maxTextLength = 2_048

/** `given` has the raw values of path, query and form. */
export const readParameters = (
  name: OperationName,
  given: RequestParameters,
): { readonly values: Values } | { readonly failure: Failure } => {
  const parameters: Operation['parameters'] = operations[name].parameters
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(parameters, key))
  if (unknown !== undefined) return { failure: invalidParameter(unknown.slice(0, 64)) }
  const values: Record<string, string | number | boolean> = {}
  for (const [key, parameter] of Object.entries(parameters)) {
    const raw = Object.hasOwn(given, key) ? given[key] : undefined
    if (raw === undefined || raw === '') {
      if (parameter.required) return { failure: missingParameter(key) }
      if (parameter.default !== undefined) values[key] = parameter.default
      continue
    }
    const value = valueOf(raw, parameter)
    if (value === undefined) return { failure: invalidParameter(key) }
    values[key] = value
  }
  const failure = checkAddress(values) ?? checkOffset(values)
  return failure ? { failure } : { values }
}

const valueOf = (raw: unknown, { kind }: Parameter): string | number | boolean | undefined => {
  if (typeof raw !== 'string' && typeof raw !== 'number' && typeof raw !== 'boolean') return undefined
  const text = String(raw)
  switch (kind) {
    case 'text':
      return text.length <= maxTextLength ? text : undefined
    case 'whole':
      return /^\d{1,9}$/.test(text) ? Number(text) : undefined
    case 'boolean':
      return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined
    case 'id':
      return /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined
  }
}

/** Accepts only public addresses, and replaces them by their normal form. */
const checkAddress = (values: Record<string, string | number | boolean>): Failure | undefined => {
  if (!('ip' in values)) return undefined
  const address = readAddress(String(values.ip))
  if (address === undefined || isInside(address)) return failures.badAddress
  values.ip = formatAddress(address)
  return undefined
}

const checkOffset = ({ offset }: Values): Failure | undefined =>
  typeof offset === 'number' && offset > highestOffset ? failures.offsetTooHigh : undefined
