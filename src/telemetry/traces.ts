// Traces for those who have OpenTelemetry: a span for every chunk and every call, through its API; without an SDK of theirs it costs and does nothing.
import type { Tell } from './event.js'

export type Span = {
  readonly setAttribute: (name: string, value: string | number) => unknown
  readonly end: (at?: number) => void
}

/** As much of OpenTelemetry's tracer as is used. */
export type Tracer = {
  readonly startSpan: (
    name: string,
    options: {
      readonly kind?: number
      readonly startTime?: number
      readonly attributes?: Record<string, string | number>
    },
  ) => Span
}

type Line<In, Out> = (chunk: readonly In[], behind: boolean) => readonly Out[] | Promise<readonly Out[]>

export type Traces = {
  readonly tell: Tell
  readonly line: <In, Out>(line: Line<In, Out>) => Line<In, Out>
}

/** A call out, in OpenTelemetry's numbers. */
const clientKind = 2

const noTraces: Traces = { tell: () => undefined, line: (line) => line }

/** The name is no literal, so that nothing looks for the package before this runs. */
const apiName: string = '@opentelemetry/api'

export const openTraces = async (
  version: string,
  now: () => number,
  load: () => Promise<unknown> = () => import(apiName),
): Promise<Traces> => {
  let api: { trace?: { getTracer?: (name: string, version: string) => Tracer } }
  try {
    api = (await load()) as typeof api
  } catch {
    return noTraces // not installed
  }
  const tracer = api.trace?.getTracer?.('threatweave', version)
  return tracer ? traceWith(tracer, now) : noTraces
}

export const traceWith = (tracer: Tracer, now: () => number): Traces => ({
  tell: (event) => {
    if (event.event !== 'service_answered' && event.event !== 'service_call_failed') return
    const at = now()
    const outcome = event.event === 'service_answered' ? 'ok' : event.reason
    tracer
      .startSpan(event.operation, {
        kind: clientKind,
        startTime: at - event.ms,
        attributes: { 'threatweave.operation': event.operation, 'threatweave.outcome': outcome },
      })
      .end(at)
  },
  line: (line) => (chunk, behind) => {
    const attributes = { 'threatweave.events': chunk.length, 'threatweave.behind': behind ? 1 : 0 }
    const span = tracer.startSpan('chunk', { startTime: now(), attributes })
    const left = line(chunk, behind)
    if (!(left instanceof Promise)) {
      span.end(now())
      return left
    }
    return left.finally(() => span.end(now()))
  },
})
