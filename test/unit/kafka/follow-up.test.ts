// What follows late answers, where it goes wrong; that it works is shown on a broker.
import { expect, it, vi } from 'vitest'
import { openFollowUp } from '../../../src/kafka/follow-up.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'

it('reports a defect, and follows up again when the next answer arrives', async () => {
  const told: TelemetryEvent[] = []
  const followUp = openFollowUp(
    {
      connect: () => expect.fail('nothing is read'),
      pipeline: () => expect.fail('nothing is annotated'),
      max: 10,
      write: () => expect.fail('nothing is written'),
      emit: (event) => void told.push(event),
      now: () => {
        throw new Error('a bug')
      },
    },
    () => undefined,
  )
  for (const offset of [1, 2]) {
    followUp.note({ topic: 'fw', partition: 0 }, [{ offset, fired: [], awaited: [] }])
    await vi.waitFor(() => expect(told).toHaveLength(offset))
    expect(told.at(-1)).toEqual({ event: 'follow_up_failed', what: 'late answers', cause: 'a bug' })
  }
  await followUp.close()
})
