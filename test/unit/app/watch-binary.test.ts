// The warning about events that are not text: once per topic, and every one counted.
import { describe, expect, it } from 'vitest'
import { watchBinary } from '../../../src/app/watch-binary.js'
import type { EventOut, Pipeline } from '../../../src/pipeline/pipeline.js'
import { decode, decodeLimits } from '../../../src/pipeline/decode.js'
import { createCounters } from '../../../src/telemetry/counters.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { wordings } from '../../../src/telemetry/wording.js'

const pipeline: Pipeline = (chunk, use) => {
  for (const [place, { bytes, origin }] of chunk.entries())
    use({ event: decode(bytes, decodeLimits), origin } as EventOut, place)
  return true
}
/** As a schema registry's serializer writes: a zero, the schema's id, the record. */
const avro = Buffer.from([0, 0, 0, 0, 7, 0x16, ...Buffer.from('192.0.2.1'), 0xff, 0x80])

describe('events that are not text', () => {
  it('are counted, and the first of each topic is logged with what to do', () => {
    const emitted: TelemetryEvent[] = []
    const counters = createCounters([])
    const watched = watchBinary(pipeline, { counters, emit: (event) => emitted.push(event) })
    const places: number[] = []
    const read = (...events: readonly (readonly [string, Buffer])[]): void => {
      void watched(
        events.map(([origin, bytes]) => ({ origin, bytes })),
        (_, place) => places.push(place),
      )
    }
    read(['flows/0/1', avro], ['flows/0/2', avro], ['fw/3/7', Buffer.from('deny 192.0.2.1')])
    read(['flows/1/1', avro], ['old/0/4#1', Buffer.from([0x64, 0xe9, 0x6e, 0x79])], ['fw/3/8', Buffer.from('{"a":1}')])
    expect(emitted).toEqual([
      { event: 'binary_event_read', topic: 'flows', origin: 'flows/0/1', prefixed: true },
      { event: 'binary_event_read', topic: 'old', origin: 'old/0/4#1', prefixed: false },
    ])
    expect(counters.read().binary).toBe(4)
    expect(places).toEqual([0, 1, 2, 0, 1, 2])
  })

  it('are as they should be where the format of their topic is another', () => {
    const emitted: TelemetryEvent[] = []
    const counters = createCounters([])
    const watched = watchBinary(pipeline, { counters, emit: (event) => emitted.push(event) })
    const late = { reason: 'no_schema' } as const
    void watched(
      [
        { origin: 'flows/0/1', bytes: avro, format: 'binary' },
        { origin: 'flows/0/2', bytes: avro, format: 'registry', unread: late },
        { origin: 'flows/0/3', bytes: avro, format: 'registry', unread: late },
        { origin: 'flows/0/4', bytes: avro, format: 'registry', unread: { reason: 'not_decoded' } },
      ],
      () => undefined,
    )
    expect(emitted).toEqual([
      { event: 'value_not_read', topic: 'flows', origin: 'flows/0/2', reason: 'no_schema' },
      { event: 'value_not_read', topic: 'flows', origin: 'flows/0/4', reason: 'not_decoded' },
    ])
    expect(counters.read().binary).toBe(0)
    expect(counters.read().unread).toEqual([
      { labels: { reason: 'no_schema' }, value: 2 },
      { labels: { reason: 'not_decoded' }, value: 1 },
    ])
  })

  it('are told of in a sentence that says what to do', () => {
    const { level, say } = wordings.binary_event_read
    expect(level).toBe('warn')
    expect(say({ event: 'binary_event_read', topic: 'flows', origin: 'flows/0/1', prefixed: true })).toBe(
      'topic flows has events that are not text, as written with a schema registry (Avro, Protobuf): the first is flows/0/1. They are written as base64, and only readable text in them is searched. Set kafka.input.format to the format of the topic.',
    )
  })
})
