// Validates values against a schema and turns errors into messages: the setting and its valid values.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { isCidr } from '../domain/address.js'
import { isSuffix } from '../domain/hostname.js'
import { didYouMean } from './did-you-mean.js'
import type { Problem } from './problem.js'

export type SchemaError = ErrorObject

/** Schema checks are off: tests cover our schemas, and checking them at every start would double its cost. */
const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  strict: false,
  verbose: true,
  meta: false,
  validateSchema: false,
  // A compiled schema runs only once per start, so optimizing it does not pay.
  code: { optimize: false },
})
ajv.addFormat('cidr', isCidr)
ajv.addFormat('suffix', isSuffix)
ajv.addFormat('url', (text: string) => URL.canParse(text))
ajv.addFormat('regex', (text: string) => {
  try {
    return new RegExp(text) instanceof RegExp
  } catch {
    return false
  }
})

/** Fills in defaults and returns errors. Compiles the schema at its first use: most commands use only one of several. */
export const createValidator = (schema: object): ((values: unknown) => readonly SchemaError[]) => {
  let compiled: ValidateFunction | undefined
  return (values) => {
    const validate = (compiled ??= ajv.compile(schema))
    return validate(values) ? [] : [...(validate.errors ?? [])]
  }
}

/** The path of an error, including an unknown name. */
export const pathOf = ({ instancePath, keyword, params }: SchemaError): readonly string[] => [
  ...instancePath.split('/').slice(1).map(unescapePointer),
  ...(keyword === 'additionalProperties' ? [String((params as Record<string, unknown>).additionalProperty)] : []),
]

const unescapePointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

/** `elsewhere` suggests the right place of a setting that is valid somewhere else. */
export const explain = (error: SchemaError, elsewhere: (name: string) => string = () => ''): Problem | undefined => {
  const setting = pathOf(error).join('.')
  const params = error.params as Record<string, unknown>
  const one = (message: string): Problem => ({ setting: setting || 'configuration', message })
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty)
      const siblings = Object.keys((error.parentSchema as { properties?: object }).properties ?? {})
      return one(`is not a setting${didYouMean(name, siblings) || elsewhere(name)}`)
    }
    case 'const':
      return undefined // a branch of a union; the union reports the error
    case 'anyOf': {
      const branches = (error.schema as { const?: unknown }[]).map((branch) => branch.const)
      if (branches.every((branch) => branch !== undefined))
        return one(`must be one of ${branches.map(String).join(', ')}`)
      const { form } = error.parentSchema as { form?: string }
      if (form !== undefined) return one(`must be ${form}`)
      return one('has a value of the wrong kind')
    }
    case 'required':
      // A branch of a union; the union reports the error.
      return error.schemaPath.includes('/oneOf/') ? undefined : one(error.message ?? 'is wrong')
    case 'oneOf': {
      const choices = (error.schema as { required?: string[] }[]).flatMap(({ required = [] }) => required)
      return one(`needs one of ${choices.join(', ')}, and only one`)
    }
    case 'enum':
      if (isBranch(error)) return undefined
      return one(`must be one of ${(params.allowedValues as unknown[]).map(String).join(', ')}`)
    case 'format':
      return one(formatMessages[String(params.format)] ?? `must be a valid ${String(params.format)}`)
    case 'pattern': {
      const { form, description } = error.parentSchema as { form?: string; description?: string }
      if (form !== undefined) return one(`must be ${form}`)
      return one(`must match ${String(params.pattern)}${description ? `: ${description}` : ''}`)
    }
    case 'type':
      if (isBranch(error)) return undefined
      return one(typeMessages[String(params.type)] ?? 'is of the wrong kind')
    default:
      return isBranch(error) ? undefined : one(error.message ?? 'is wrong')
  }
}

/** Errors of a branch are skipped, because the union reports them. */
const isBranch = ({ schemaPath }: SchemaError): boolean =>
  /\/anyOf\/\d+\/(?:enum|type|minimum|maximum)$/.test(schemaPath)

const formatMessages: Readonly<Record<string, string>> = {
  cidr: 'must be an address or a range such as 198.51.100.0/24 or 2001:db8::/32',
  suffix: 'must be a domain name such as corp.example.com',
  regex: 'must be a regular expression',
  url: 'must be a URL such as https://intel.example.com',
}

const typeMessages: Readonly<Record<string, string>> = {
  array: 'must be a list, such as [one, two]',
  boolean: 'must be true or false',
  integer: 'must be a whole number',
  number: 'must be a number',
  object: 'must hold settings as `name: value` lines',
  string: 'must be text',
}
