// An indicator as ECS `threat.indicator`.
import type { Indicator } from '../domain/indicator.js'

export const threatIndicator = (
  type: Indicator['type'] | undefined,
  value: string,
  source: string | undefined,
): Readonly<Record<string, unknown>> => ({
  type: type === 'domain' ? 'domain-name' : value.includes(':') ? 'ipv6-addr' : 'ipv4-addr',
  name: value,
  ...(type === 'domain' ? { url: { domain: value } } : { ip: value }),
  ...(source !== undefined && { provider: source }),
})
