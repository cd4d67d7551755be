// Runs the examples of a profile, and reports those with another result than stated.
import { isObject, type AnyObject } from '../base/json-object.js'
import { parseAddress } from '../domain/address.js'
import { parseHostname } from '../domain/hostname.js'
import { registrableDomain } from '../domain/public-suffix.js'
import type { ProfileExample, ServiceProfile } from '../domain/service-profile.js'
import { createAnswerReader, type AnswerReader } from './answer-reader.js'
import { domainMisfit } from './ask-domain.js'
import { badAnswer } from './classify.js'
import { createEnvelope } from './envelope.js'
import { readBody, type Reply } from './send.js'

type WrongExample = { readonly nth: number; readonly message: string }

export const wrongProfileExamples = (profile: ServiceProfile): readonly WrongExample[] => {
  const reader = createAnswerReader(profile)
  const context = { envelope: createEnvelope(profile.envelope), errors: profile.errors, reader }
  return profile.examples.flatMap((example, nth) => {
    const message = whyWrong(example, readBody(example.http, example.answer ?? {}, undefined, context), reader)
    return message === undefined ? [] : [{ nth, message }]
  })
}

const whyWrong = (example: ProfileExample, read: Reply, reader: AnswerReader): string | undefined => {
  const { gives, facts: wanted } = example
  const misfit = read.status === 'answer' ? misfitOf(example, read.body, reader) : undefined
  const reply = misfit === undefined ? read : { status: 'failure' as const, failure: badAnswer(misfit) }
  if (reply.status === 'failure') {
    const { reason, detail } = reply.failure
    return reason === gives ? undefined : `should give ${gives ?? 'facts'} and gives ${reason}: ${detail}`
  }
  if (gives !== undefined) return `should give ${gives} and gives an answer`
  const facts = factsOf(example, reply.body, reader)
  return isIn(wanted, facts) ? undefined : `should give ${JSON.stringify(wanted)} and gives ${JSON.stringify(facts)}`
}

const misfitOf = (
  { operation, asked = '' }: ProfileExample,
  body: AnyObject,
  reader: AnswerReader,
): string | undefined => {
  if (asked === '') return undefined
  const address = parseAddress(asked)
  if (address !== undefined) return reader.addressMisfit(address, body)
  return operation === 'domain/report' ? domainMisfit(domainOf(asked))({ body, read: reader }) : undefined
}

const domainOf = (asked: string): string => {
  const name = parseHostname(asked) ?? asked
  return registrableDomain(name) ?? name
}

const factsOf = ({ operation, asked = '' }: ProfileExample, body: unknown, reader: AnswerReader): unknown => {
  const now = Date.now()
  if (operation.startsWith('ip/')) return reader.addressFacts(body, now)
  if (operation === 'domain/report')
    return { hosts: [reader.reportFacts(body, { host: domainOf(asked), issues: [] }, now)] }
  if (operation.startsWith('domain/reports')) return reader.reportsFacts(body, domainOf(asked), now)
  if (operation.startsWith('domain/')) return { scanId: reader.scanId(body), percent: reader.scanPercent(body) }
  return operation === 'user/me' ? { plan: reader.account.plan(body), quota: reader.account.quota(body) } : {}
}

/** Whether `given` contains all of `wanted`; it may have more. */
const isIn = (wanted: unknown, given: unknown): boolean => {
  if (Array.isArray(wanted))
    return Array.isArray(given) && wanted.length === given.length && wanted.every((one, at) => isIn(one, given[at]))
  if (isObject(wanted)) return isObject(given) && Object.entries(wanted).every(([name, one]) => isIn(one, given[name]))
  return wanted === given
}
