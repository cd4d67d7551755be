// API keys as they are kept: salted hashes in a file, each with the plan of the one who holds the key.
import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'

type Plan = {
  readonly name: string
  /** Calls that may be in flight at the same time. */
  readonly inFlight: number
  /** Calls per calendar month (UTC); absent: no end. */
  readonly credits?: number
  /** Calls per second; absent: as many as come. */
  readonly perSecond?: number
  /** All questions of the key are replayed history, which waits for live traffic of all keys; absent: each says what it is. */
  readonly urgency?: 'replay'
}

export type Key = { readonly name: string; readonly hash: string; readonly plan: Plan }

export const hashKey = (key: string, salt = randomBytes(16).toString('hex')): string =>
  `sha256:${salt}:${createHash('sha256').update(`${salt}:${key}`).digest('hex')}`

const hashShape = /^sha256:[0-9a-f]{16,64}:[0-9a-f]{64}$/
const maxKeyLength = 256

/** Every key is compared, and each in constant time, so that the answer's time says nothing about a near miss. */
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

/** Sixty letters and digits with one of each kind, the shape that clients of the provider accept. */
export const newKey = (): string => {
  const key = Array.from({ length: newKeyLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  return /[a-z]/.test(key) && /[A-Z]/.test(key) && /\d/.test(key) ? key : newKey()
}

/** The quick start: one key for everybody who asks. */
export const soleKey = (key: string, plan: Plan): Key => ({ name: 'default', hash: hashKey(key), plan })

/** Throws with every problem of the file: a key that silently does not work is worse than a refusal to start. */
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
    if (typeof name !== 'string' || !/^[\w.-]{1,64}$/.test(name)) problems.push(`${where}.name must be a short word`)
    else if (names.has(name)) problems.push(`${where}.name is taken by another key`)
    else names.add(name)
    if (typeof hash !== 'string' || !hashShape.test(hash))
      problems.push(`${where}.hash must be as \`threatweave serve --new-key NAME\` writes it`)
    const read = readPlan(plan)
    if (!read)
      problems.push(
        `${where}.plan holds inFlight, credits and perSecond as whole numbers from 1, a name, and urgency only as "replay"`,
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
