// OpenTelemetry traces: one span per chunk and per provider call, if an OpenTelemetry SDK was loaded before the program.
import type { Emit } from './event.js'

type Span = {
  readonly setAttribute: (name: string, value: string | number) => unknown
  readonly end: (at?: number) => void
}

/** The used part of the OpenTelemetry tracer. */
type Tracer = {
  readonly startSpan: (
    name: string,
    options: {
      readonly kind?: number
      readonly startTime?: number
      readonly attributes?: Record<string, string | number>
    },
  ) => Span
}

type ChunkFunction<In, Use, Wait> = (chunk: readonly In[], use: Use, wait?: Wait) => boolean | Promise<boolean>

type Traces = {
  readonly emit: Emit
  readonly pipeline: <In, Use, Wait extends { readonly kind: string }>(
    pipeline: ChunkFunction<In, Use, Wait>,
  ) => ChunkFunction<In, Use, Wait>
}

/** OpenTelemetry's SpanKind.CLIENT. */
const clientKind = 2

const noTraces: Traces = { emit: () => undefined, pipeline: (pipeline) => pipeline }

/**
 * The global symbol under which version 1 of the OpenTelemetry API registers an SDK. Reading it directly avoids a dependency on the API
 * and costs nothing when no SDK is loaded.
 */
const registered = Symbol.for('opentelemetry.js.api.1')

type Registered = { readonly trace?: { readonly getTracer: (name: string, version: string) => Tracer } }

export const openTraces = (version: string, now: () => number): Traces => {
  const sdk = (globalThis as { readonly [registered]?: Registered })[registered]
  return sdk?.trace ? traceWith(sdk.trace.getTracer('threatweave', version), now) : noTraces
}

const traceWith = (tracer: Tracer, now: () => number): Traces => ({
  emit: (event) => {
    if (event.event !== 'provider_answered' && event.event !== 'provider_call_failed') return
    const at = now()
    const outcome = event.event === 'provider_answered' ? 'ok' : event.reason
    tracer
      .startSpan(event.operation, {
        kind: clientKind,
        startTime: at - event.ms,
        attributes: { 'threatweave.operation': event.operation, 'threatweave.outcome': outcome },
      })
      .end(at)
  },
  pipeline: (pipeline) => (chunk, use, wait) => {
    const attributes = { 'threatweave.events': chunk.length, 'threatweave.wait': wait?.kind ?? 'usual' }
    const span = tracer.startSpan('chunk', { startTime: now(), attributes })
    const done = pipeline(chunk, use, wait)
    if (!(done instanceof Promise)) {
      span.end(now())
      return done
    }
    return done.finally(() => span.end(now()))
  },
})
