// How a MISP server is asked for its attributes, page by page.
import { isObject } from '../base/json-object.js'
import { attributeTypes } from './misp.js'
import type { Page, PagedSource } from './fetch-pages.js'
import { objectsOf } from './json-text.js'

const pageLimit = 5000

type MispFilters = {
  /** The base address of the server. */
  readonly misp: string
  readonly tags?: readonly string[] | undefined
  /** Only attributes of published events. */
  readonly published?: boolean | undefined
}

/** `since` is the newest change that the last read has seen; undefined: all that the filters let through. */
export const searchAttributes = (
  { misp, tags = [], published = true }: MispFilters,
  key: string,
  since: string | undefined,
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
      ...(since !== undefined && { timestamp: since }),
      page,
      limit: pageLimit,
    }),
  })
  let page = 1
  let newest = Number(since ?? 0)
  return {
    headers: { authorization: key, accept: 'application/json' },
    first: pageOf(page),
    meaningOf: (status) =>
      status === 401 || status === 403
        ? `answered ${status}: the key is refused or may not search; check apiKeyFile`
        : status === 404 || status === 405
          ? `answered ${status}: there is no MISP at this address; give that of the server, such as https://misp.example.com`
          : undefined,
    read: ({ value }): Page => {
      const response = isObject(value) ? value.response : undefined
      const found = isObject(response) ? response.Attribute : response
      if (!Array.isArray(found))
        return { problem: 'does not answer as a MISP server does: check that the address is that of the server' }
      const attributes = objectsOf(found)
      for (const { timestamp } of attributes) newest = Math.max(newest, Number(timestamp) || 0)
      // There is no total: the last page is the empty one.
      return attributes.length === 0
        ? { objects: 0, cursor: newest > 0 ? String(newest) : since }
        : { objects: attributes.length, next: pageOf(++page) }
    },
  }
}
