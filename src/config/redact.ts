// The configuration for display: each secret is replaced by whether it is set, and secrets in URLs are hidden.
import { settingsOf } from './environment.js'
import type { configSchema, Config } from './schema.js'

/** `schema` is the whole one, with the settings of all parts. */
export const redact = (config: Config, schema: typeof configSchema): Record<string, unknown> => {
  const copy = structuredClone(config) as Record<string, unknown>
  for (const { path, secret } of settingsOf(schema)) {
    const parent = path
      .slice(0, -1)
      .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], copy)
    const name = path.at(-1) ?? ''
    if (typeof parent !== 'object' || parent === null || !(name in parent)) continue
    const values = parent as Record<string, unknown>
    const value = values[name]
    if (secret) values[name] = value === '' ? '' : hidden
    else if (typeof value === 'string') values[name] = withoutSecrets(value)
  }
  // The names themselves are shown, each at its setting.
  const { derivedTopics: _, ...kafka } = copy.kafka as Record<string, unknown>
  copy.kafka = kafka
  copy.feeds = config.feeds.map((feed) => ({
    ...feed,
    ...(feed.url !== undefined && { url: hostAlone(feed.url) }),
    ...(feed.taxii !== undefined && { taxii: withoutSecrets(feed.taxii) }),
    ...(feed.misp !== undefined && { misp: withoutSecrets(feed.misp) }),
  }))
  return copy
}

/** Public lists may have their key in the path as well as in the query. */
const hostAlone = (url: string): string => (URL.canParse(url) ? `${new URL(url).origin}/${hidden}` : hidden)

const hidden = '(hidden)'

/** User, password, query and fragment may be secret; host and path are shown. */
const withoutSecrets = (text: string): string => {
  if (!/^https?:/i.test(text) || !/[@?#]/.test(text)) return text
  if (!URL.canParse(text)) return hidden
  const { protocol, username, password, host, pathname, search, hash } = new URL(text)
  const user = username + password === '' ? '' : `${hidden}@`
  return `${protocol}//${user}${host}${pathname}${search + hash === '' ? '' : `?${hidden}`}`
}
