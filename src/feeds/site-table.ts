// Listed URLs, and hosts listed without subdomains: found by host, then by the longest listed path that begins the event's path.
import {
  bytes,
  type Column,
  type DetailArrays,
  type DetailColumns,
  isCurrent,
  pickDetails,
  scratchWords,
  shorts,
  strongerOf,
  words,
} from './columns.js'
import { schemes as schemeTexts } from './entry.js'
import { finish, step } from './name-table.js'
import { endsSegment, normalPath } from './url-path.js'

export type SiteTable = DetailArrays & {
  /** All sites, concatenated: the host, followed by the path if a URL is listed. */
  readonly text: Uint8Array<ArrayBuffer>
  /** The start of each site in `text`, plus the end of the last one. */
  readonly offsets: Uint32Array<ArrayBuffer>
  readonly hostLengths: Uint8Array<ArrayBuffer>
  /** As listed: the index of the scheme, and the port or 0. `ports` is empty if no site has one. */
  readonly schemes: Uint8Array<ArrayBuffer>
  readonly ports: Uint16Array<ArrayBuffer>
  /** Row + 1 at the slot of the whole site's hash or after it; 0 is empty. The length is a power of two, at most half full. */
  readonly slots: Uint32Array<ArrayBuffer>
  /** The same by the host alone: of its sites the one with the earliest start, then the latest expiry. */
  readonly hostSlots: Uint32Array<ArrayBuffer>
  /** Random per load, so that a crafted feed cannot make all sites collide. */
  readonly seed: number
}

export type SiteColumns = DetailColumns & {
  readonly text: Column<Uint8Array<ArrayBuffer>>
  readonly offsets: Column<Uint32Array<ArrayBuffer>>
  readonly hostLengths: Column<Uint8Array<ArrayBuffer>>
  readonly schemes: Column<Uint8Array<ArrayBuffer>>
  readonly ports: Column<Uint16Array<ArrayBuffer>>
}

export const buildSiteTable = (columns: SiteColumns, seed: number): SiteTable => {
  const text = columns.text.values()
  const starts = columns.offsets.values()
  const count = starts.length
  const endOf = (row: number): number => starts[row + 1] ?? text.length
  const size = 2 ** Math.ceil(Math.log2(Math.max(count, 1) * 2))
  const slots = words(size)
  const rows = scratchWords(count)
  let length = 0
  for (let row = 0; row < count; row++) {
    const start = starts[row] ?? 0
    const slot = slotOf(slots, hashOf(text, start, endOf(row), seed), (at) => {
      const other = rows[at] ?? 0
      return isSame(text, start, endOf(row), starts[other] ?? 0, endOf(other))
    })
    const at = (slots[slot] ?? 0) - 1
    if (at >= 0) rows[at] = strongerOf(columns, rows[at] ?? 0, row)
    else {
      rows[length++] = row
      slots[slot] = length
    }
  }
  const kept = rows.subarray(0, length)
  const offsets = words(length + 1)
  const hostLengths = bytes(length)
  const given = {
    hostLengths: columns.hostLengths.values(),
    schemes: columns.schemes.values(),
    ports: columns.ports.values(),
  }
  const schemes = bytes(length)
  const ports = shorts(given.ports.some((port) => port !== 0) ? length : 0)
  for (let i = 0; i < length; i++) {
    const row = kept[i] ?? 0
    offsets[i + 1] = (offsets[i] ?? 0) + endOf(row) - (starts[row] ?? 0)
    hostLengths[i] = given.hostLengths[row] ?? 0
    schemes[i] = given.schemes[row] ?? 0
    if (i < ports.length) ports[i] = given.ports[row] ?? 0
  }
  const packed = new Uint8Array(offsets[length] ?? 0)
  for (let i = 0; i < length; i++) {
    const row = kept[i] ?? 0
    packed.set(text.subarray(starts[row], endOf(row)), offsets[i])
  }
  const details = pickDetails(columns, kept)
  const hostSlots = slotsByHost(packed, offsets, hostLengths, details, seed, size)
  return { text: packed, offsets, hostLengths, schemes, ports, slots, hostSlots, seed, ...details }
}

const slotsByHost = (
  text: Uint8Array,
  offsets: Uint32Array,
  hostLengths: Uint8Array,
  details: DetailArrays,
  seed: number,
  size: number,
): Uint32Array<ArrayBuffer> => {
  const slots = words(size)
  for (let row = 0; row < hostLengths.length; row++) {
    const start = offsets[row] ?? 0
    const end = start + (hostLengths[row] ?? 0)
    const slot = slotOf(slots, hashOf(text, start, end, seed), (other) => {
      const from = offsets[other] ?? 0
      return isSame(text, start, end, from, from + (hostLengths[other] ?? 0))
    })
    const other = (slots[slot] ?? 0) - 1
    if (other < 0 || countsLonger(details, row, other)) slots[slot] = row + 1
  }
  return slots
}

const countsLonger = ({ since, expires }: DetailArrays, row: number, than: number): boolean => {
  const sooner = (since[than] ?? 0) - (since[row] ?? 0)
  return sooner !== 0 ? sooner > 0 : (expires[row] || Infinity) > (expires[than] || Infinity)
}

const hashOf = (text: Uint8Array, start: number, end: number, seed: number): number => {
  let hash = seed
  for (let i = start; i < end; i++) hash = step(hash, text[i] ?? 0)
  return hash
}

/** The slot of the row for which `is` returns true, or the empty slot where it would go. */
const slotOf = (slots: Uint32Array, hash: number, is: (row: number) => boolean): number => {
  const mask = slots.length - 1
  let slot = finish(hash) & mask
  for (let at = slots[slot] ?? 0; at !== 0 && !is(at - 1); at = slots[slot] ?? 0) slot = (slot + 1) & mask
  return slot
}

const isSame = (text: Uint8Array, start: number, end: number, otherStart: number, otherEnd: number): boolean => {
  if (end - start !== otherEnd - otherStart) return false
  for (let i = start, j = otherStart; i < end; i++, j++) if (text[i] !== text[j]) return false
  return true
}

/** `isHostOnly`: a URL of the host is listed, but the event does not show it. */
export type SiteHit = { readonly row: number; readonly isHostOnly: boolean }

/** The host must be normalized; the paths are as the event shows them. */
export const findSite = (
  table: SiteTable,
  host: string,
  paths: readonly string[] | undefined,
  nowSeconds: number,
): SiteHit | undefined => {
  const { slots, hostSlots, offsets, hostLengths } = table
  if (offsets.length === 1) return undefined
  let hash = table.seed
  for (let i = 0; i < host.length; i++) hash = step(hash, host.charCodeAt(i))
  const startsWithHost = (row: number): boolean =>
    hostLengths[row] === host.length && isAt(table, offsets[row] ?? 0, host, host.length)
  const first = (hostSlots[slotOf(hostSlots, hash, startsWithHost)] ?? 0) - 1
  if (first < 0) return undefined

  let found = -1
  const probe = (path: string, length: number, hashed: number): void => {
    const isListed = (row: number): boolean =>
      (offsets[row + 1] ?? 0) - (offsets[row] ?? 0) === host.length + length &&
      startsWithHost(row) &&
      isAt(table, (offsets[row] ?? 0) + host.length, path, length)
    const row = (slots[slotOf(slots, hashed, isListed)] ?? 0) - 1
    if (row >= 0 && isCurrent(table, row, nowSeconds)) found = row
  }
  probe('', 0, hash)
  for (const shown of paths ?? []) {
    const path = normalPath(shown)
    let hashed = hash
    for (let i = 0; i < path.length; i++) {
      hashed = step(hashed, path.charCodeAt(i))
      if (endsSegment(path, i + 1)) probe(path, i + 1, hashed)
    }
  }
  if (found >= 0) return { row: found, isHostOnly: false }
  return isCurrent(table, first, nowSeconds) ? { row: first, isHostOnly: true } : undefined
}

const isAt = ({ text }: SiteTable, start: number, asked: string, length: number): boolean => {
  for (let i = 0; i < length; i++) if (text[start + i] !== asked.charCodeAt(i)) return false
  return true
}

/** The listed site at a row for display; a host without subdomains ends in a slash. */
export const siteAt = ({ text, offsets, hostLengths }: SiteTable, row: number): string => {
  const start = offsets[row] ?? 0
  const end = offsets[row + 1] ?? 0
  const site = Buffer.from(text.subarray(start, end)).toString('latin1')
  return end - start === hostLengths[row] ? `${site}/` : site
}

/** The listed URL, normalized; undefined if the host itself is listed. */
export const urlAt = (table: SiteTable, row: number): string | undefined => {
  const { text, offsets, hostLengths, schemes, ports } = table
  const start = offsets[row] ?? 0
  const hostEnd = start + (hostLengths[row] ?? 0)
  const end = offsets[row + 1] ?? 0
  if (hostEnd === end) return undefined
  const part = (from: number, to: number): string => Buffer.from(text.subarray(from, to)).toString('latin1')
  const port = ports[row] ?? 0
  return `${schemeTexts[schemes[row] ?? 0] ?? ''}${part(start, hostEnd)}${port === 0 ? '' : `:${port}`}${part(hostEnd, end)}`
}
