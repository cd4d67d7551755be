import { describe, expect, it } from 'vitest'
import type { Incoming } from '../../../../src/kafka/records.js'
import type { AlertRecord } from '../../../../src/parts/notify/alert-record.js'
import type { DeadLetter } from '../../../../src/parts/notify/dead-letters.js'
import type { Outcome } from '../../../../src/parts/notify/sink-client.js'
import { createSinkDelivery, type SinkDelivery } from '../../../../src/parts/notify/sink-delivery.js'
import type { Silence } from '../../../../src/parts/notify/silence-file.js'
import type { TelemetryEvent } from '../../../../src/telemetry/event.js'
import { alertRecordOf, idOf, recordOf, sinkOf } from '../../../support/sinks.js'

type Answer = (alert: AlertRecord, nth: number) => Outcome

const delivered: Outcome = { kind: 'delivered' }
const later: Outcome = { kind: 'later', state: 'failing', detail: 'HTTP 500' }
const refused: Outcome = { kind: 'refused', http: 400, answer: 'bad' }

const setUp = (text = '', answer: Answer = () => delivered) => {
  const requests: AlertRecord[][] = []
  const resolved: AlertRecord[] = []
  const letters: DeadLetter[] = []
  const events: TelemetryEvent[] = []
  const committed: string[] = []
  let silence: Silence | undefined
  let time = 1_000_000_000
  let answers = answer
  let goes = true
  const delivery = createSinkDelivery({
    sink: sinkOf(`id: mine\nurl: http://127.0.0.1/\nbody: [{ $value: alert }]\n${text}`),
    client: {
      send: (alerts) => {
        requests.push([...alerts])
        return Promise.resolve(alerts.map((alert) => answers(alert, requests.length)))
      },
      resolve: (alert) => {
        resolved.push(alert)
        return Promise.resolve(delivered)
      },
    },
    silences: { find: () => silence, count: () => undefined },
    wants: () => true,
    writeDeadLetters: (more) => {
      letters.push(...more)
      return Promise.resolve()
    },
    maxAgeMs: 3_600_000,
    emit: (event) => void events.push(event),
    now: () => time,
    random: () => 0.5,
    pauses: { firstMs: 1, maxMs: 2, minuteMs: 60_000 },
  })
  const deliver = (records: readonly Incoming[], lag = 0): Promise<void> => {
    let waiting: string | undefined
    return delivery.deliver(
      {
        topic: 'alerts',
        partition: 0,
        records: records.map((record) => ({ ...record, timestamp: String(time) })),
        lag,
        goesOn: () => goes,
        resolve: (last, metadata) => {
          if (metadata !== undefined) waiting = last
        },
        commit: () => {
          if (waiting !== undefined) committed.push(waiting)
          waiting = undefined
          return Promise.resolve()
        },
      },
      '',
    )
  }
  return {
    delivery,
    deliver,
    requests,
    resolved,
    letters,
    events,
    committed,
    ids: () => requests.flat().map(({ id }) => id),
    messages: () => requests.flat().map(({ whole }) => whole.message),
    answer: (next: Answer) => void (answers = next),
    silenceWith: (next: Silence | undefined) => void (silence = next),
    pass: (ms: number) => void (time += ms),
    stop: () => void (goes = false),
    fates: () => delivery.status().alerts,
  }
}

const some = (count: number, from = 1): readonly Incoming[] =>
  Array.from({ length: count }, (_, nth) => alertRecordOf(from + nth))

const silenceOf = (id: string): Silence => ({
  id,
  match: { 'source.ip': '10.0.0.31' },
  until: '2100-01-01',
  reason: 'a test',
  by: 'me',
})

describe('the delivery to a sink', () => {
  it('commits an alert when the sink has answered', async () => {
    const { deliver, committed, ids } = setUp()
    await deliver(some(3))
    expect(ids()).toEqual([1, 2, 3].map(idOf))
    expect(committed).toEqual(['1', '2', '3'])
  })

  it('sends an alert again until the sink takes it, and shows its state', async () => {
    const { delivery, deliver, events, ids } = setUp('', (_, nth) => (nth < 4 ? later : delivered))
    await deliver(some(1))
    expect(ids()).toEqual([1, 1, 1, 1].map(idOf))
    expect(events.map(({ event }) => event)).toEqual(['sink_failed', 'sink_failed', 'sink_failed', 'sink_recovered'])
    expect(delivery.status()).toMatchObject({ state: 'working', failures: { failing: 3 } })
  })

  it('commits nothing that was not delivered when it stops', async () => {
    const { deliver, committed, stop } = setUp('', (_, nth) => {
      if (nth === 3) stop()
      return nth === 1 ? delivered : later
    })
    await deliver(some(3))
    expect(committed).toEqual(['1'])
  })

  it('writes what is refused for good to the dead letters, with the answer, and goes on', async () => {
    const { deliver, letters, committed, fates } = setUp('', ({ id }) => (id === idOf(2) ? refused : delivered))
    await deliver(some(3))
    expect(letters).toMatchObject([{ sink: 'mine', http: 400, answer: 'bad', alert: { id: idOf(2) } }])
    expect(committed).toEqual(['1', '2', '3'])
    expect(fates()).toMatchObject({ delivered: 2, refused: 1 })
  })

  it('finds the one alert for which a whole request is refused', async () => {
    const { deliver, letters, requests, answer, committed } = setUp('batch: 100\nsends: everything\n')
    // One answer for all of a request.
    answer(() => ((requests.at(-1) ?? []).some(({ id }) => id === idOf(6)) ? refused : delivered))
    await deliver(some(10))
    expect(letters.map(({ alert }) => alert.id)).toEqual([idOf(6)])
    expect(committed).toEqual(['10'])
  })

  it('sends again only what of a request was not taken', async () => {
    const { deliver, requests } = setUp('batch: 100\nsends: everything\n', ({ id }, nth) =>
      nth === 1 && id === idOf(2) ? later : delivered,
    )
    await deliver(some(3))
    expect(requests.map((alerts) => alerts.map(({ id }) => id))).toEqual([[1, 2, 3].map(idOf), [idOf(2)]])
  })

  it('puts a group into a request once, so that its alerts keep their order', async () => {
    const { deliver, requests } = setUp('batch: 100\nsends: everything\n')
    await deliver([1, 2, 3].map((nth) => alertRecordOf(nth, { group: nth === 2 ? 'b' : 'a' })))
    expect(requests.map((alerts) => alerts.map(({ id }) => id))).toEqual([[idOf(1), idOf(2)], [idOf(3)]])
  })

  it('sends of a group the first, or updates, or everything', async () => {
    const records = [1, 2, 3].map((nth) => alertRecordOf(nth, { group: 'a' }))
    const first = setUp()
    await first.deliver(records)
    expect(first.ids()).toEqual([idOf(1)])
    expect(first.fates()).toMatchObject({ delivered: 1, merged: 2 })
    const updates = setUp('sends: updates\n')
    await updates.deliver(records)
    expect(updates.ids()).toHaveLength(3)
  })

  it('remembers groups that were sent before this process', async () => {
    const { delivery, deliver, ids } = setUp()
    delivery.remember(alertRecordOf(1, { group: 'a' }))
    await deliver([alertRecordOf(2, { group: 'a' }), alertRecordOf(3, { group: 'b' })])
    expect(ids()).toEqual([idOf(3)])
  })

  it('counts what is no alert, and commits it', async () => {
    const { deliver, committed, fates, events } = setUp()
    const values = [null, Buffer.from('x'), Buffer.from('[]'), Buffer.from('{}'), Buffer.alloc(300_000, '[')]
    const real = alertRecordOf(9)
    const forged = JSON.parse(String(real.value)) as { threatweave: { alert_id: string } }
    forged.threatweave.alert_id = '../../_all'
    await deliver([...values, Buffer.from(JSON.stringify(forged))].map((value, nth) => recordOf(nth, value)))
    expect(fates()).toMatchObject({ no_alert: 6, delivered: 0 })
    expect(committed).toEqual(['5'])
    expect(events).toHaveLength(6)
  })

  describe('with silences', () => {
    it('holds an alert back, or marks it where the sink wants it', async () => {
      const dropping = setUp()
      dropping.silenceWith(silenceOf('quiet'))
      await dropping.deliver(some(2))
      expect(dropping.fates()).toMatchObject({ silenced: 2, delivered: 0 })
      expect(dropping.committed).toEqual(['2'])
      const marking = setUp('silenced: mark\n')
      marking.silenceWith(silenceOf('quiet'))
      await marking.deliver(some(1))
      expect(marking.requests[0]?.[0]?.whole).toMatchObject({
        threatweave: { silenced: { id: 'quiet', until: '2100-01-01', reason: 'a test', by: 'me' } },
      })
    })

    it('holds back what already waits for a sink that is away', async () => {
      const { deliver, silenceWith, fates, ids } = setUp('', (_, nth) => {
        if (nth === 2) silenceWith(silenceOf('quiet'))
        return later
      })
      await deliver(some(1))
      expect(ids()).toHaveLength(2)
      expect(fates()).toMatchObject({ silenced: 1, delivered: 0 })
    })
  })

  describe('with a cap', () => {
    it('says how many alerts there were besides, once, and commits them with it', async () => {
      const { deliver, messages, committed, pass, fates, requests } = setUp('perMinute: 2\n')
      await deliver([...some(9), alertRecordOf(10, { level: 'critical' })], 5)
      expect(messages()).toEqual(['alert 1', 'alert 2'])
      expect(committed).toEqual(['1', '2'])
      await deliver(some(5, 11), 1)
      expect(committed).toEqual(['1', '2'])
      pass(60_000)
      await deliver(some(1, 16))
      expect(messages()).toEqual(['alert 1', 'alert 2', expect.stringContaining('13 more alerts'), 'alert 16'])
      expect(messages()[2]).toContain('the worst is critical')
      expect(requests[2]?.[0]?.whole).toMatchObject({ threatweave: { count: 13, level: 'critical' } })
      expect(committed).toEqual(['1', '2', '16'])
      expect(fates()).toMatchObject({ delivered: 3, capped: 13 })
    })

    it('waits for the next minute to tell of the last ones', async () => {
      const { deliver, messages, committed, pass } = setUp('perMinute: 1\n')
      const delivering = deliver(some(4))
      await expect.poll(messages).toEqual(['alert 1'])
      pass(60_000)
      await delivering
      expect(messages()).toEqual(['alert 1', expect.stringContaining('3 more alerts')])
      expect(committed).toEqual(['1', '4'])
    })
  })

  it('tells of alerts that came too late in one message, and stores them where the sink stores', async () => {
    const old = setUp()
    const records = some(5)
    const oldest = records.map((record) => ({ ...record }))
    await old.delivery.deliver(batchOf(oldest, 0), '')
    expect(old.messages()).toEqual([expect.stringContaining('5 more alerts')])
    expect(old.messages()[0]).toContain('5 came too late')
    const storing = setUp('sends: everything\n')
    await storing.delivery.deliver(batchOf(oldest, 0), '')
    expect(storing.fates()).toMatchObject({ delivered: 5 })
  })

  it('resolves a group when it is no longer open, and prolongs it with each alert', async () => {
    const { delivery, deliver, pass, resolved } = setUp('sends: updates\nopenMinutes: 10\nresolve: { a: b }\n')
    await deliver([alertRecordOf(1, { group: 'a' })])
    pass(9 * 60_000)
    await deliver([alertRecordOf(2, { group: 'a' })])
    pass(9 * 60_000)
    await delivery.tick()
    expect(resolved).toEqual([])
    pass(60_000)
    await delivery.tick()
    await delivery.tick()
    expect(resolved.map(({ id }) => id)).toEqual([idOf(2)])
  })

  it('sends a heartbeat where one is wanted', async () => {
    const { delivery, pass, messages } = setUp('heartbeatMinutes: 5\n')
    await delivery.tick()
    pass(5 * 60_000)
    await delivery.tick()
    await delivery.tick()
    expect(messages()).toEqual([expect.stringContaining('Heartbeat')])
  })
})

/** Written in 1970. */
const batchOf = (records: readonly Incoming[], timestamp: number): Parameters<SinkDelivery['deliver']>[0] => ({
  topic: 'alerts',
  partition: 0,
  records: records.map((record) => ({ ...record, timestamp: String(timestamp) })),
  lag: 0,
  goesOn: () => true,
  resolve: () => undefined,
  commit: () => Promise.resolve(),
})
