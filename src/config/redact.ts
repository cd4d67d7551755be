// The configuration as it may be shown: every secret, as the schema marks them, replaced by whether it is set.
import { settingsOf } from './environment.js'
import { configSchema, type Config } from './schema.js'

export const redact = (config: Config): Record<string, unknown> => {
  const copy = structuredClone(config) as Record<string, unknown>
  for (const { path, secret } of settingsOf(configSchema)) {
    if (!secret) continue
    const parent = path
      .slice(0, -1)
      .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], copy)
    const name = path.at(-1) ?? ''
    if (typeof parent === 'object' && parent !== null && name in parent)
      (parent as Record<string, unknown>)[name] = (parent as Record<string, unknown>)[name] === '' ? '' : '(hidden)'
  }
  return copy
}
