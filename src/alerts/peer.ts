// Finds the machine on the other side of the indicator, so that alerts about several victims stay separate.
import type { Annotation } from '../domain/annotation.js'
import { endpointsOf, type Endpoint } from '../domain/endpoints.js'
import { isInsideReason } from '../domain/inside-host.js'
import { hostOf } from '../domain/listed-url.js'
import type { AnnotatedEvent } from './annotated-event.js'
import { createReadEvent, type RuleEvent } from './event-field.js'

const otherHost = (endpoint: Endpoint | undefined, value: string | undefined): string | undefined =>
  endpoint?.ip !== undefined && endpoint.ip !== value
    ? endpoint.ip
    : endpoint?.domain !== value
      ? endpoint?.domain
      : undefined

/** Without an endpoint: the subject of the event, then its writer. */
const others = [
  'host.name',
  'host.hostname',
  'hostname',
  'Computer',
  'ComputerName',
  'DeviceName',
  'client.address',
  'shost',
  'user.name',
  'username',
  'observer.name',
  'observer.ip',
].map(createReadEvent)

const longest = 256

/** The other endpoint in any address range, because the user's own machines may have any address. */
export const peerOf = (
  { annotation, extraction }: Pick<AnnotatedEvent, 'annotation' | 'extraction'>,
  event: () => RuleEvent,
): string | undefined => {
  const { role } = annotation
  const value = annotation.value === undefined ? undefined : hostOf(annotation.type, annotation.value)
  const { source, destination } = endpointsOf(extraction)
  const [first, second] = role === 'source' ? [destination, source] : [source, destination]
  return otherHost(first, value) ?? otherHost(second, value) ?? insideOf(annotation) ?? namedIn(event(), annotation)
}

/** In any role, because there is no endpoint to name. */
const insideOf = ({ indicators, value }: Readonly<Annotation>): string | undefined =>
  indicators.find((one) => one.value !== value && isInsideReason(one.reason))?.value

const namedIn = (event: RuleEvent, annotation: Readonly<Annotation>): string | undefined => {
  const own = annotation.value === undefined ? undefined : hostOf(annotation.type, annotation.value)
  for (const read of others) {
    const [found] = [read(event, annotation)].flat()
    if (typeof found === 'string' && found !== '' && found !== own) return found.slice(0, longest)
  }
  return undefined
}
