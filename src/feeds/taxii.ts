// TAXII 2.1: requests the indicators of a collection, and explains the answers of the server.
import { isObject } from '../base/json-object.js'
import type { Page, PagedSource } from './fetch-pages.js'
import { objectsOf, stringOf } from './json-text.js'
import { parseTimestamp } from '../domain/timestamp.js'

/** Servers compare this text exactly. */
export const taxiiType = 'application/taxii+json;version=2.1'

const pageLimit = 1000

/** `since` is the cursor of the last read; undefined reads the whole collection. Every page is requested with the same filters. */
export const readCollection = (collection: string, since: string | undefined): PagedSource => {
  const pageOf = (addedAfter: string | undefined, next?: string): { readonly url: string } => {
    const url = new URL(`${collection.replace(/\/+$/, '')}/objects/`)
    url.searchParams.set('limit', String(pageLimit))
    url.searchParams.set('match[type]', 'indicator')
    if (addedAfter !== undefined) url.searchParams.set('added_after', addedAfter)
    if (next !== undefined) url.searchParams.set('next', next)
    return { url: url.href }
  }
  let cursor = since
  return {
    headers: { accept: taxiiType },
    first: pageOf(since),
    versionOf: ({ id, modified }) => `${stringOf(id)} ${stringOf(modified)}`,
    meaningOf: taxiiMeaning,
    read: ({ value, header }): Page => {
      const problem = noTaxii(value, header('content-type'))
      if (problem !== undefined || !isObject(value)) return { problem: problem ?? notTaxii }
      const objects = objectsOf(value.objects)
      const last = stringOf(header('x-taxii-date-added-last'))
      cursor = last ?? cursor
      if (value.more !== true) return { objects, cursor }
      const next = stringOf(value.next)
      if (next !== undefined) return { objects, next: pageOf(since, next) }
      const lastAt = parseTimestamp(last)
      if (lastAt === undefined)
        return {
          problem: 'says that there is more, and not where: its answer has no next and no X-TAXII-Date-Added-Last',
        }
      // Starts a millisecond earlier, because objects of the same moment may follow. Duplicates count once.
      return { objects, next: pageOf(new Date(lastAt - 1).toISOString()) }
    },
  }
}

const notTaxii = 'does not answer as a TAXII 2.1 server does: check that the address is that of a collection'
const onlyOlder = 'speaks TAXII 2.0, and only 2.1 is read: ask its operator for the address of 2.1'

/** Why an answer is not TAXII 2.1. */
export const noTaxii = (value: unknown, contentType: string | undefined): string | undefined => {
  if (/version\s*=\s*2\.0|vnd\.oasis\.(?:taxii|stix)/i.test(contentType ?? '')) return onlyOlder
  return isObject(value) && /json/i.test(contentType ?? '') ? undefined : notTaxii
}

export const taxiiMeaning = (status: number): string | undefined => {
  if (status === 406) return 'answered 406: it does not speak TAXII 2.1; a server that speaks only 2.0 cannot be read'
  if (status === 401 || status === 403)
    return `answered ${status}: the login is missing or may not read this collection; check headersFile or the client certificate`
  return status === 404
    ? 'answered 404: there is no such collection; `threatweave feeds discover` lists those that you may read'
    : undefined
}
