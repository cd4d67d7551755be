// Shorter limits for tests that would otherwise wait for minutes, in this process or in a started one.
import { pathToFileURL } from 'node:url'
import { resolve } from 'node:path'
import { limits, type Limits } from '../../src/app/limits.js'

export type LimitChanges = {
  readonly [group in keyof Limits]?: Limits[group] extends number ? number : Partial<Limits[group]>
}

/** For code in this process. */
export const limitsWith = ({ scanPollMs, ...changes }: LimitChanges): Limits => ({
  admission: { ...limits.admission, ...changes.admission },
  retry: { ...limits.retry, ...changes.retry },
  cooldown: { ...limits.cooldown, ...changes.cooldown },
  client: { ...limits.client, ...changes.client },
  kafka: { ...limits.kafka, ...changes.kafka },
  scanPollMs: scanPollMs ?? limits.scanPollMs,
})

/** Environment variables that apply the limits to a started program and its children. */
export const limitsEnv = (changes: LimitChanges): { readonly NODE_OPTIONS: string } => {
  const url = pathToFileURL(resolve(import.meta.dirname, 'other-limits.mjs'))
  url.searchParams.set('limits', JSON.stringify(changes))
  return { NODE_OPTIONS: `--import ${url.href}` }
}
