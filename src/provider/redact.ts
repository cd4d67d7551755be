// Removes a secret from values before they are shown, stored or thrown, even if the provider echoed it.

export type Redact = {
  readonly text: (text: string) => string
  /** Every text inside, names of members included. */
  readonly deep: (value: unknown) => unknown
}

const mark = '[redacted]'
/** Shorter texts are not redacted, because they would match ordinary words. */
const minLength = 4

export const createRedact = (secret: string): Redact => {
  if (secret.length < minLength) return { text: (text) => text, deep: (value) => value }
  const spellings = [
    ...new Set([
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      btoa(secret).replace(/=+$/, ''),
    ]),
  ]
  const text = (given: string): string =>
    spellings.reduce((result, spelling) => result.replaceAll(spelling, mark), given)
  const deep = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(deep)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [text(name), deep(inner)]))
  }
  return { text, deep }
}
