// Spans with an OpenTelemetry API in the process, and none without.
import { createRequire } from 'node:module'
import { afterEach, describe, expect, it } from 'vitest'
import { openTraces } from '../../../src/telemetry/traces.js'

const open = () => {
  const spans: unknown[] = []
  const tracer = {
    startSpan: (name: string, { startTime, attributes }: { startTime?: number; attributes?: object }) => ({
      setAttribute: () => undefined,
      end: (at?: number) => void spans.push([name, startTime, at, attributes]),
    }),
  }
  let time = 1000
  const now = (): number => (time += 5)
  const traces = () => {
    trace.setGlobalTracerProvider({ getTracer: () => tracer })
    return openTraces('1.0.0', now)
  }
  return { spans, tracer, traces }
}

// As the SDKs do: by the API's own function.
const { trace } = createRequire(createRequire(import.meta.url).resolve('prom-client'))('@opentelemetry/api') as {
  readonly trace: { readonly setGlobalTracerProvider: (provider: object) => boolean; readonly disable: () => void }
}
afterEach(() => trace.disable())

describe('traces', () => {
  it('have a span for every chunk, ended when its events leave', async () => {
    const { spans, traces } = open()
    const pipeline = traces().pipeline(async (chunk: readonly number[], use: () => void) => {
      use()
      return Promise.resolve(chunk.length === 3)
    })
    let used = 0
    expect(await pipeline([1, 2, 3], () => used++, { kind: 'live' })).toBe(true)
    expect(used).toBe(1)
    expect(spans).toEqual([['chunk', 1005, 1010, { 'threatweave.events': 3, 'threatweave.wait': 'live' }]])
  })

  it('have a span for every call, with its outcome', () => {
    const { spans, traces } = open()
    const { emit } = traces()
    emit({ event: 'provider_call_failed', operation: 'ip/malicious-info', reason: 'timeout', detail: '', ms: 3 })
    emit({ event: 'lookups_resumed' })
    const attributes = { 'threatweave.operation': 'ip/malicious-info', 'threatweave.outcome': 'timeout' }
    expect(spans).toEqual([['ip/malicious-info', 1002, 1005, attributes]])
  })

  it('are none where no SDK was loaded, and the pipeline is then the pipeline itself', () => {
    const pipeline = (chunk: readonly number[]): boolean => chunk.length > 0
    expect(openTraces('1.0.0', Date.now).pipeline(pipeline)).toBe(pipeline)
  })

  it("go to the tracer that an SDK gave to OpenTelemetry's own API", () => {
    const { tracer } = open()
    const asked: unknown[] = []
    trace.setGlobalTracerProvider({ getTracer: (...args: unknown[]) => (asked.push(args.slice(0, 2)), tracer) })
    const pipeline = (chunk: readonly number[]): boolean => chunk.length > 0
    expect(openTraces('1.0.0', Date.now).pipeline(pipeline)).not.toBe(pipeline)
    expect(asked).toEqual([['threatweave', '1.0.0']])
  })
})
