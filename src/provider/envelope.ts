// What the body of an answer says of the call itself: whether it succeeded, with which code and words.
import type { AnyObject } from '../base/json-object.js'
import type { ServiceProfile } from '../domain/service-profile.js'
import { textAt, valueAt } from './fact-at.js'
import { numberOf, textOf } from './read-value.js'

type Said = { readonly isSuccess: boolean; readonly code: number | string | undefined; readonly message: string }

/** Undefined where the body has no status though this service's have one. */
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
