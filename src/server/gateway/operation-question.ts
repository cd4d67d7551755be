// A question to the provider: an operation with parameters. Equal operation and parameters mean an equal question.
import type { QuestionType } from '../../lookup/question.js'
import { isOperation, type OperationName } from '../../domain/operations.js'
import type { Values } from '../parameters.js'

export type OperationQuestion = {
  readonly operation: OperationName
  readonly parameters: Readonly<Record<string, string>>
  /** Answers are private to the owner, if there is one. */
  readonly owner?: string
  readonly key: string
}

export const operationQuestion = (operation: OperationName, values: Values, owner?: string): OperationQuestion => {
  const given = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, string] => [name, String(value)])
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const text = `${operation}?${new URLSearchParams(given).toString()}`
  const parameters = Object.fromEntries(given)
  return owner === undefined
    ? { operation, parameters, key: text }
    : { operation, parameters, owner, key: `${text}#${owner}` }
}

const readKey = (key: string): OperationQuestion | undefined => {
  const mark = key.indexOf('?')
  const operation = key.slice(0, mark)
  if (mark < 0 || !isOperation(operation) || key.includes('#')) return undefined
  return { operation, parameters: Object.fromEntries(new URLSearchParams(key.slice(mark + 1))), key }
}

export const operationQuestions: QuestionType<OperationQuestion> = {
  keyOf: ({ key }) => key,
  own: (question) => question,
  write: ({ key }) => ({ question: key }),
  read: ({ question }) => (typeof question === 'string' ? readKey(question) : undefined),
}

/** Why a body does not answer the question, for example because it is about another address. */
export const questionMisfit = (
  { parameters: { ip } }: OperationQuestion,
  body: unknown,
  { addressMisfit }: { readonly addressMisfit: (ip: string, answer: unknown) => string | undefined },
): string | undefined => (ip === undefined ? undefined : addressMisfit(ip, body))
