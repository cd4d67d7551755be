// Lists of addresses by kind: entries of `lists/vpn.txt`, or of any file in `lists/vpn/`, are VPNs.
import { readFileSync } from 'node:fs'
import { basename, dirname, extname } from 'node:path'
import { readAddress } from '../../domain/address.js'
import { createRangeSet, type RangeSet } from '../../domain/range-set.js'
import { readListFile } from '../../feeds/list-file.js'

const listKinds = [
  'vpn',
  'anonymous_vpn',
  'tor',
  'proxy',
  'hosting',
  'cloud',
  'mobile',
  'darkweb',
  'scanner',
  'snort',
  'dns',
] as const
export type ListKind = (typeof listKinds)[number]

type AddressLists = {
  readonly loaded: ReadonlySet<ListKind>
  /** The kinds of lists with this address, each with the names of the lists. */
  readonly find: (address: string) => ReadonlyMap<ListKind, readonly string[]>
}

type List = { readonly kind: ListKind; readonly name: string; readonly ranges: RangeSet }

const isKind = (text: string): text is ListKind => (listKinds as readonly string[]).includes(text)

/** The kind is the file name; or the folder name, and then the file name is the publisher. */
const kindOf = (file: string): { kind: ListKind; name: string } | undefined => {
  const name = basename(file, extname(file))
  const folder = basename(dirname(file))
  if (isKind(folder)) return { kind: folder, name }
  return isKind(name) ? { kind: name, name } : undefined
}

/** Throws for an unreadable list, because its addresses would otherwise count as "not a VPN". */
export const openAddressLists = (files: readonly string[]): AddressLists => {
  const lists = files.map((file): List => {
    const kind = kindOf(file)
    if (!kind) throw new Error(`${file} is no list: its name or its folder must be one of ${listKinds.join(', ')}`)
    const read = readListFile(file, readFileSync(file, 'utf8'))
    if ('problems' in read) throw new Error(read.problems.map(({ where, message }) => `${where} ${message}`).join('\n'))
    return { ...kind, ranges: createRangeSet(read.ranges) }
  })
  return {
    loaded: new Set(lists.map(({ kind }) => kind)),
    find: (text) => {
      const address = readAddress(text)
      const found = new Map<ListKind, string[]>()
      if (address === undefined) return found
      for (const { kind, name, ranges } of lists)
        if (ranges.has(address)) found.set(kind, [...(found.get(kind) ?? []), name])
      return found
    },
  }
}
