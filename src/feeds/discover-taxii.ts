// Discovers a TAXII 2.1 server: its API roots, and the collections that a login may read.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Download, DownloadRequest } from '../domain/download.js'
import { isObject, type AnyObject } from '../base/json-object.js'
import { readBytes } from './feed-file.js'
import { objectsOf, readJson, stringOf, stringsOf } from './json-text.js'
import { noTaxii, taxiiMeaning, taxiiType } from './taxii.js'

type Collection = {
  /** The value for a feed's `taxii` setting. */
  readonly address: string
  readonly title: string
  readonly isReadable: boolean
}

type ApiRoot = {
  readonly address: string
  readonly collections: readonly Collection[]
  /** Why its collections could not be listed. */
  readonly problem?: string
}

type Access = Pick<DownloadRequest, 'headers' | 'clientCertificate' | 'allowHttp' | 'signal'>

const maxRoots = 100
const maxAnswerBytes = 4 * 1024 * 1024

/** `url` is the discovery address, or the address of one API root. */
export const discoverTaxii = async (
  download: Download,
  url: string,
  access: Access,
): Promise<readonly ApiRoot[] | { readonly refused: string }> => {
  const folder = await mkdtemp(join(tmpdir(), 'threatweave-discover-'))
  const ask = (address: string): Promise<AnyObject | string> =>
    askFor(download, address, access, join(folder, 'answer'))
  try {
    const answer = await ask(url)
    if (typeof answer === 'string') return { refused: answer }
    const named = stringsOf(answer.api_roots).slice(0, maxRoots)
    const roots = named.length > 0 ? named.filter((root) => URL.canParse(root, url)) : [url]
    const found: ApiRoot[] = []
    for (const root of roots) {
      const address = withSlash(new URL(root, url).href)
      if (new URL(address).origin !== new URL(url).origin) {
        found.push({
          address,
          collections: [],
          problem: 'is on another host, which the login is not shown to: ask it by itself',
        })
        continue
      }
      const listed = await ask(`${address}collections/`)
      found.push(
        typeof listed === 'string'
          ? { address, collections: [], problem: listed }
          : { address, collections: objectsOf(listed.collections).flatMap((one) => collectionOf(one, address)) },
      )
    }
    return found
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const withSlash = (url: string): string => (url.endsWith('/') ? url : `${url}/`)

const collectionOf = (collection: AnyObject, root: string): readonly Collection[] => {
  const id = stringOf(collection.id)
  if (id === undefined) return []
  const address = `${root}collections/${encodeURIComponent(id)}/`
  return [{ address, title: stringOf(collection.title) ?? '', isReadable: collection.can_read === true }]
}

/** The answer, or the reason there is none. */
const askFor = async (download: Download, url: string, access: Access, file: string): Promise<AnyObject | string> => {
  const headers = { ...access.headers, accept: taxiiType }
  const got = await download({ ...access, url, headers, file, maxBytes: maxAnswerBytes })
  if (got.status === 'failed')
    return (got.answered === 404 ? undefined : got.answered && taxiiMeaning(got.answered)) || got.message
  const read = readBytes(file)
  const json = read.ok ? readJson(read.bytes) : undefined
  const value = json?.ok === true ? json.value : undefined
  const problem = noTaxii(value, got.status === 'new' ? got.header('content-type') : undefined)
  return problem ?? (isObject(value) ? value : 'does not answer as a TAXII 2.1 server does')
}
