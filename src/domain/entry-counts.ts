// Counts the entries of a feed by kind, and describes the counts in words.

export const entryKinds = ['addresses', 'endpoints', 'names', 'urls'] as const

/** Each entry has one kind. `endpoints`: one port of an address. `addresses`: includes ranges. */
export type EntryCounts = Readonly<Record<(typeof entryKinds)[number], number>>

export const entriesIn = ({ addresses, endpoints, names, urls }: EntryCounts): number =>
  addresses + endpoints + names + urls

export const addEntries = (all: readonly EntryCounts[]): EntryCounts => {
  const sum = { addresses: 0, endpoints: 0, names: 0, urls: 0 }
  for (const counts of all) for (const kind of entryKinds) sum[kind] += counts[kind]
  return sum
}

/** `3 addresses, 2 addresses with a port and 1 name`. */
export const describeEntries = (
  { addresses, endpoints, names, urls }: EntryCounts,
  format: (count: number) => string = String,
): string => {
  const parts = [
    `${format(addresses)} ${addresses === 1 ? 'address' : 'addresses'}`,
    ...(endpoints > 0 ? [`${format(endpoints)} ${endpoints === 1 ? 'address' : 'addresses'} with a port`] : []),
    `${format(names)} ${names === 1 ? 'name' : 'names'}`,
    ...(urls > 0 ? [`${format(urls)} ${urls === 1 ? 'URL' : 'URLs'}`] : []),
  ]
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`
}
