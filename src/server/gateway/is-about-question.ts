// Whether an answer is about what was asked; one about another address is no answer.
import { parseAddress } from '../../domain/address.js'
import { addressBody } from '../../provider/facts.js'
import type { Question } from './question.js'

export const isAboutQuestion = ({ parameters }: Question, body: unknown): boolean => {
  if (!Object.hasOwn(parameters, 'ip')) return true
  const about = addressBody(body).ip
  return about === undefined || about === null || (typeof about === 'string' && parseAddress(about) === parameters.ip)
}
