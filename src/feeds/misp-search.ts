// Searches a MISP server for attributes, page by page.
import { isObject, type AnyObject } from '../base/json-object.js'
import { attributeTypes } from './misp.js'
import type { Page, PagedSource } from './fetch-pages.js'
import { objectsOf, stringOf } from './json-text.js'

const pageLimit = 5000
/** Beyond this many digests, attributes that are sent again count as new. */
const maxEdge = 100_000

type MispFilters = {
  /** The base address of the server. */
  readonly misp: string
  readonly tags?: readonly string[] | undefined
  /** Only attributes of published events. */
  readonly published?: boolean | undefined
}

type Since = {
  /** The newest change seen by the last read, in seconds. */
  readonly cursor: string
  /** Digests of the attributes changed in that second, which a search since then returns again. */
  readonly edge: readonly string[]
}

/** Without `since`, returns everything that the filters allow. */
export const searchAttributes = (
  { misp, tags = [], published = true }: MispFilters,
  key: string,
  since: Since | undefined,
): PagedSource => {
  const url = `${misp.replace(/\/+$/, '')}/attributes/restSearch`
  const pageOf = (page: number): { readonly url: string; readonly body: string } => ({
    url,
    body: JSON.stringify({
      returnFormat: 'json',
      type: attributeTypes,
      to_ids: 1,
      enforceWarninglist: 1,
      includeEventTags: 1,
      ...(published && { published: 1 }),
      ...(tags.length > 0 && { tags }),
      ...(since !== undefined && { timestamp: since.cursor }),
      page,
      limit: pageLimit,
    }),
  })
  let page = 1
  const known = new Set(since?.edge)
  let newest = Number(since?.cursor ?? 0)
  let edge = new Set(known)
  return {
    headers: { authorization: key, accept: 'application/json' },
    first: pageOf(page),
    meaningOf: (status) =>
      status === 401 || status === 403
        ? `answered ${status}: the key is refused or may not search; check apiKeyFile`
        : status === 404 || status === 405
          ? `answered ${status}: there is no MISP at this address; give that of the server, such as https://misp.example.com`
          : undefined,
    versionOf: ({ uuid, timestamp }) => `${stringOf(uuid)} ${String(timestamp)}`,
    read: ({ value }): Page => {
      const response = isObject(value) ? value.response : undefined
      const found = isObject(response) ? response.Attribute : response
      if (!Array.isArray(found))
        return { problem: 'does not answer as a MISP server does: check that the address is that of the server' }
      const attributes = objectsOf(found)
      const last = attributes.reduce((latest, one) => Math.max(latest, secondOf(one)), newest)
      if (last > newest) edge = new Set()
      newest = last
      let again = 0
      for (const attribute of attributes) {
        const isAtEdge = secondOf(attribute) === last
        const mayBeKnown = known.size > 0 && String(attribute.timestamp) === since?.cursor
        if (!isAtEdge && !mayBeKnown) continue
        const digest = stringOf(attribute.digest) ?? ''
        if (mayBeKnown && known.has(digest)) again++
        if (isAtEdge && edge.size < maxEdge) edge.add(digest)
      }
      // There is no total count: an empty page is the last one.
      return attributes.length === 0
        ? { objects: [], cursor: newest > 0 ? String(newest) : undefined, edge: [...edge] }
        : { objects: attributes, known: again, next: pageOf(++page) }
    },
  }
}

const secondOf = ({ timestamp }: AnyObject): number => Number(timestamp) || 0
