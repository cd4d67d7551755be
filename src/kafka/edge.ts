// Parses the start or end of a range on the command line: a time, an offset, a duration ago, the beginning or now.
import { parseIsoTime } from '../domain/timestamp.js'

export type Edge =
  | { readonly kind: 'earliest' }
  | { readonly kind: 'now' }
  | { readonly kind: 'offset'; readonly offset: number }
  | { readonly kind: 'time'; readonly time: number }

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** A time without a zone is UTC. Undefined for any other text. */
export const parseEdge = (text: string, now: number): Edge | undefined => {
  if (text === 'earliest' || text === 'now') return { kind: text }
  if (/^\d{1,15}$/.test(text)) return { kind: 'offset', offset: Number(text) }
  const ago = /^(\d{1,6})([smhdw])$/.exec(text)
  if (ago) return { kind: 'time', time: now - Number(ago[1]) * units[ago[2] as keyof typeof units] }
  const time = parseIsoTime(text)
  return time === undefined ? undefined : { kind: 'time', time }
}
