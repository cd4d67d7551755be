// Detailed answers of the lookup service about the indicator of an alert, bounded in size.

export const contextOperations = [
  'ip/data',
  'banner/search',
  'banner/stats',
  'domain/report',
  'exploit/search',
] as const
export type ContextOperation = (typeof contextOperations)[number]

export type AlertContext = {
  /** The time of the newest answer. */
  readonly obtained_at: string
  /** Shortened answers, by operation. */
  readonly answers: { readonly [operation in ContextOperation]?: unknown }
}

const maxDepth = 5
const maxRows = 5
const maxMembers = 40
const maxText = 200
const maxAnswerBytes = 3_072

/** `edb_content` is exploit code, which does not belong in an event; the title is enough. */
const leftOut: ReadonlySet<string> = new Set(['status', 'message', 'edb_content'])

/** An answer without its envelope; lists and texts are cut to a small size. */
export const shortened = (answer: unknown): unknown => {
  for (let rows = maxRows; rows > 0; rows--) {
    const short = cut(answer, rows, 0)
    if (Buffer.byteLength(JSON.stringify(short)) <= maxAnswerBytes) return short
  }
  const least = cut(answer, 0, 0)
  return Buffer.byteLength(JSON.stringify(least)) <= maxAnswerBytes ? least : { truncated: true }
}

const cut = (value: unknown, rows: number, depth: number): unknown => {
  if (typeof value === 'string') return value.length > maxText ? `${value.slice(0, maxText)}…` : value
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) return undefined
  if (Array.isArray(value)) return (value as unknown[]).slice(0, rows).map((one) => cut(one, rows, depth + 1))
  const members = Object.entries(value).filter(([name, member]) => !leftOut.has(name) && !isNothing(member))
  return Object.fromEntries(members.slice(0, maxMembers).map(([name, member]) => [name, cut(member, rows, depth + 1)]))
}

const isNothing = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** The first three vulnerabilities named in a line. */
export const vulnerabilitiesIn = (text: string): readonly string[] =>
  [...new Set(text.match(/\bCVE-\d{4}-\d{4,7}\b/gi)?.map((id) => id.toUpperCase()))].slice(0, 3)
