// Reads the key file: salted hashes of API keys, each with its plan.
import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'

type Plan = {
  readonly name: string
  /** The maximum number of calls in flight. */
  readonly inFlight: number
  /** Calls per calendar month (UTC); absent: unlimited. */
  readonly credits?: number
  /** Calls per second; absent: unlimited. */
  readonly perSecond?: number
  /** Treats all requests of the key as replayed history, which yields to live traffic; absent: each request states its urgency. */
  readonly urgency?: 'replay'
}

export type Key = { readonly name: string; readonly hash: string; readonly plan: Plan }

export const hashKey = (key: string, salt = randomBytes(16).toString('hex')): string =>
  `sha256:${salt}:${createHash('sha256').update(`${salt}:${key}`).digest('hex')}`

const hashShape = /^sha256:[0-9a-f]{16,64}:[0-9a-f]{64}$/
const maxKeyLength = 256

/** Compares all keys in constant time, so that the response time reveals nothing about near misses. */
export const findKey = (keys: readonly Key[], given: string): Key | undefined => {
  let found: Key | undefined
  if (given.length > maxKeyLength) return undefined
  for (const key of keys) {
    const salt = key.hash.split(':')[1] ?? ''
    if (timingSafeEqual(Buffer.from(hashKey(given, salt)), Buffer.from(key.hash))) found = key
  }
  return found
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const newKeyLength = 60

/** Sixty letters and digits with at least one of each kind, the format that clients of the provider accept. */
export const newKey = (): string => {
  const key = Array.from({ length: newKeyLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  return /[a-z]/.test(key) && /[A-Z]/.test(key) && /\d/.test(key) ? key : newKey()
}

/** The quick start: one key for all clients. */
export const soleKey = (key: string, plan: Plan): Key => ({ name: 'default', hash: hashKey(key), plan })

/** Throws with every problem of the file, because a key that silently fails is worse than a refusal to start. */
export const readKeys = (file: string, text: string): Key[] => {
  const problems: string[] = []
  const content = parseJson(text)
  const entries: readonly unknown[] | undefined =
    isRecord(content) && Array.isArray(content.keys) ? content.keys : undefined
  if (!entries) throw new Error(`${file} must be JSON of the form {"keys": [{"name": …, "hash": …, "plan": {…}}]}`)
  const names = new Set<string>()
  const keys = entries.map((entry, i): Key | undefined => {
    const where = `${file} keys[${i}]`
    if (!isRecord(entry)) return void problems.push(`${where} is not an object`)
    const { name, hash, plan = {} } = entry
    if (typeof name !== 'string' || !/^[\w.-]{1,64}$/.test(name))
      problems.push(`${where}.name must be 1 to 64 letters, digits, dots, hyphens or underscores`)
    else if (names.has(name)) problems.push(`${where}.name is taken by another key`)
    else names.add(name)
    if (typeof hash !== 'string' || !hashShape.test(hash))
      problems.push(`${where}.hash must have the format of \`threatweave serve --new-key NAME\``)
    const read = readPlan(plan)
    if (!read)
      problems.push(
        `${where}.plan may have inFlight, credits and perSecond (whole numbers from 1), name, and urgency: "replay"`,
      )
    return read && { name: name as string, hash: hash as string, plan: read }
  })
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return keys.filter((key) => key !== undefined)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1

const readPlan = (plan: unknown): Plan | undefined => {
  if (!isRecord(plan)) return undefined
  const { name = 'local', inFlight = 1, credits, perSecond, urgency, ...rest } = plan
  if (typeof name !== 'string' || !isCount(inFlight) || Object.keys(rest).length > 0) return undefined
  if (urgency !== undefined && urgency !== 'replay') return undefined
  if ((credits !== undefined && !isCount(credits)) || (perSecond !== undefined && !isCount(perSecond))) return undefined
  return {
    name,
    inFlight,
    ...(credits === undefined ? {} : { credits }),
    ...(perSecond === undefined ? {} : { perSecond }),
    ...(urgency === undefined ? {} : { urgency }),
  }
}
