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

type Line<In, Use, Wait> = (chunk: readonly In[], use: Use, wait?: Wait) => boolean | Promise<boolean>

export type Traces = {
  readonly tell: Tell
  readonly line: <In, Use, Wait extends { readonly kind: string }>(line: Line<In, Use, Wait>) => Line<In, Use, Wait>
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
  line: (line) => (chunk, use, wait) => {
    const attributes = { 'threatweave.events': chunk.length, 'threatweave.wait': wait?.kind ?? 'usual' }
    const span = tracer.startSpan('chunk', { startTime: now(), attributes })
    const through = line(chunk, use, wait)
    if (!(through instanceof Promise)) {
      span.end(now())
      return through
    }
    return through.finally(() => span.end(now()))
  },
})
