import { describe, expect, it } from 'vitest'
import { sendAttachments, sendAttachmentsOrNote } from '../../../src/delivery/attachments.js'
import type { OutputForm } from '../../../src/delivery/deliver.js'
import { forgetUpTo, noRefusals } from '../../../src/delivery/refusals.js'
import type { Outgoing, Send } from '../../../src/kafka/records.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'

const alert = (key: string, bytes = 10): Outgoing => ({
  topic: 'alerts',
  partition: 0,
  key: Buffer.from(key),
  value: Buffer.alloc(bytes, 'x'),
  headers: [],
  timestamp: '0',
})
const keys = (records: readonly Outgoing[]): readonly string[] => records.map(({ key }) => String(key))
const all = ['a', 'b', 'POISON', 'c', 'd'].map((key) => alert(key))
const isPoisoned = (records: readonly Outgoing[]): boolean => keys(records).includes('POISON')

const setUp = () => {
  const told: TelemetryEvent[] = []
  const form = {
    max: { count: 4, bytes: 1_000_000 },
    maxBytesOf: () => 1_000,
    emit: (event: TelemetryEvent) => void told.push(event),
  } as unknown as OutputForm
  const written: string[] = []
  return { told, form, written }
}
const dropped = { event: 'attachments_dropped', topic: 'alerts', records: 1 } as const

describe('an alert or a note', () => {
  it('that its topic refuses is left out, counted, and the others are written', async () => {
    const { told, form, written } = setUp()
    const send: Send = (records) => {
      if (isPoisoned(records)) return Promise.resolve({ refused: 'INVALID_RECORD', left: records })
      written.push(...keys(records))
      return Promise.resolve('acknowledged')
    }
    await sendAttachments(all, send, form)
    expect(written).toEqual(['a', 'b', 'c', 'd'])
    expect(told).toEqual([{ ...dropped, reason: 'invalid_record' }])
  })

  it('that is refused in a transaction is found in the next attempt and left out of the one after that', async () => {
    const { told, form, written } = setUp()
    const refusals = noRefusals()
    const send: Send = (records) => {
      if (isPoisoned(records)) return Promise.reject(Object.assign(new Error('no'), { type: 'INVALID_RECORD' }))
      written.push(...keys(records))
      return Promise.resolve('acknowledged')
    }
    const attempt = (): Promise<void> => sendAttachmentsOrNote(all, '7', refusals, send, form)
    await expect(attempt()).rejects.toThrow('no')
    await expect(attempt()).rejects.toThrow('no')
    written.length = 0
    await attempt()
    expect(written).toEqual(['a', 'b', 'c', 'd'])
    expect(told).toEqual([{ ...dropped, reason: 'invalid_record' }])
    forgetUpTo('7', refusals)
    expect(refusals.attachments.size).toBe(0)
  })

  it('that is larger than its topic takes is not sent', async () => {
    const { told, form, written } = setUp()
    const send: Send = (records) => {
      written.push(...keys(records))
      return Promise.resolve('acknowledged')
    }
    await sendAttachments([alert('a'), alert('large', 2_000), alert('b')], send, form)
    expect(written).toEqual(['a', 'b'])
    expect(told).toEqual([{ ...dropped, reason: 'too_large' }])
  })
})
