// Reads the status of a call from the body of its answer: success, code and message.
import type { AnyObject } from '../base/json-object.js'
import type { ServiceProfile } from '../domain/service-profile.js'
import { textAt, valueAt } from './fact-at.js'
import { numberOf, textOf } from './read-value.js'

type Said = { readonly isSuccess: boolean; readonly code: number | string | undefined; readonly message: string }

/** Undefined if the body lacks the status that the service should send. */
export type Envelope = (body: AnyObject) => Said | undefined

export const createEnvelope = ({ status, success, message }: ServiceProfile['envelope']): Envelope => {
  const statusAt = valueAt(status)
  const messageAt = textAt(message, 500)
  const successes = new Set(success.map((one) => String(one).toLowerCase()))
  return (body) => {
    const words = messageAt(body) ?? ''
    if (status === undefined) return { isSuccess: true, code: undefined, message: words }
    const stated = statusAt(body)
    const code = typeof stated === 'boolean' ? String(stated) : (numberOf(stated) ?? textOf(stated, 64))
    if (code === undefined) return undefined
    return { isSuccess: successes.has(String(code).toLowerCase()), code, message: words }
  }
}
