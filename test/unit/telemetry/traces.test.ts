// Spans with an OpenTelemetry API in the process, and none without.
import { describe, expect, it } from 'vitest'
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
  const api = { trace: { getTracer: () => tracer } }
  return { spans, tracer, traces: () => openTraces('1.0.0', now, () => Promise.resolve(api)) }
}

describe('traces', () => {
  it('have a span for every chunk, ended when its events leave', async () => {
    const { spans, traces } = open()
    const pipeline = (await traces()).pipeline(async (chunk: readonly number[], use: () => void) => {
      use()
      return Promise.resolve(chunk.length === 3)
    })
    let used = 0
    expect(await pipeline([1, 2, 3], () => used++, { kind: 'live' })).toBe(true)
    expect(used).toBe(1)
    expect(spans).toEqual([['chunk', 1005, 1010, { 'threatweave.events': 3, 'threatweave.wait': 'live' }]])
  })

  it('have a span for every call, with its outcome', async () => {
    const { spans, traces } = open()
    const { emit } = await traces()
    emit({ event: 'provider_call_failed', operation: 'ip/malicious-info', reason: 'timeout', detail: '', ms: 3 })
    emit({ event: 'lookups_resumed' })
    const attributes = { 'threatweave.operation': 'ip/malicious-info', 'threatweave.outcome': 'timeout' }
    expect(spans).toEqual([['ip/malicious-info', 1002, 1005, attributes]])
  })

  it('are none where OpenTelemetry is not installed, and the pipeline is then the pipeline itself', async () => {
    const pipeline = (chunk: readonly number[]): boolean => chunk.length > 0
    const missing = (): Promise<unknown> => Promise.reject(new Error('Cannot find package'))
    expect((await openTraces('1.0.0', Date.now, missing)).pipeline(pipeline)).toBe(pipeline)
  })

  it('go to the tracer of the installed API', async () => {
    const { tracer } = open()
    const asked: unknown[] = []
    const api = { trace: { getTracer: (...args: unknown[]) => (asked.push(args), tracer) } }
    const pipeline = (chunk: readonly number[]): boolean => chunk.length > 0
    const traces = await openTraces('1.0.0', Date.now, () => Promise.resolve(api))
    expect(asked).toEqual([['threatweave', '1.0.0']])
    expect(traces.pipeline(pipeline)).not.toBe(pipeline)
  })
})
