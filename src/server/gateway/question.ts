// A question to the provider as text and back: the same operation with the same parameters is the same question.
import type { Indicator } from '../../domain/indicator.js'
import { isOperation, type OperationName } from '../../provider/operations.js'
import type { Values } from '../parameters.js'

export type Question = { readonly operation: OperationName; readonly parameters: Readonly<Record<string, string>> }

/**
 * To the layers of a lookup a question is an indicator of its own: all they want to know of it is its key. With an `owner` it is the
 * owner's alone, and nobody else is given its answer.
 */
export const indicatorOf = (operation: OperationName, values: Values, owner?: string): Indicator => {
  const given = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, string] => [name, String(value)])
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const question = `${operation}?${new URLSearchParams(given).toString()}`
  return { type: 'ip', value: owner === undefined ? question : `${question}#${owner}` }
}

export const questionOf = ({ value }: Indicator): Question | undefined => {
  const mark = value.indexOf('?')
  const operation = value.slice(0, mark)
  if (!isOperation(operation)) return undefined
  const [query] = value.slice(mark + 1).split('#')
  return { operation, parameters: Object.fromEntries(new URLSearchParams(query)) }
}
