// Formats an indicator as ECS `threat.indicator`.
import type { AnnotatedType } from './annotation.js'
import { hostOf } from './listed-url.js'

export const threatIndicator = (
  type: AnnotatedType | undefined,
  value: string,
  source: string | undefined,
): Readonly<Record<string, unknown>> => ({
  type: typeOf(type, value),
  name: value,
  ...(type === 'url'
    ? { url: { original: value, domain: hostOf(type, value) } }
    : type === 'domain'
      ? { url: { domain: value } }
      : { ip: value }),
  ...(source !== undefined && { provider: source }),
})

const typeOf = (type: AnnotatedType | undefined, value: string): string => {
  if (type === 'url') return 'url'
  return type === 'domain' ? 'domain-name' : value.includes(':') ? 'ipv6-addr' : 'ipv4-addr'
}
