// Routes alerts to sinks by their matchers. A sink without matchers gets all alerts; a default sink gets those that no matcher accepts.
import type { AnyObject } from '../../base/json-object.js'
import { compileMatch, type Matches } from './matchers.js'
import type { SinkDescription } from './sink-file.js'

type Routed = Pick<SinkDescription, 'id' | 'match' | 'default'>

export const routeAlerts = (sinks: readonly Routed[]): ((sink: Routed, alert: AnyObject) => boolean) => {
  const byId = new Map<string, Matches>()
  for (const { id, match } of sinks) if (match !== undefined) byId.set(id, compileMatch(match))
  const all = [...byId.values()]
  return (sink, alert) => {
    if (sink.default) return !all.some((matches) => matches(alert))
    return byId.get(sink.id)?.(alert) ?? true
  }
}
