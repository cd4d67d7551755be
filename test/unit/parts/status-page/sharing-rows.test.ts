// The table of the status page about the verdicts topic: what was learnt and shared, what is not believed and why, how late it is.
import { expect, it } from 'vitest'
import { sharingRows } from '../../../../src/parts/status-page/content/machine-tables.js'
import { createCounters } from '../../../../src/telemetry/counters.js'

it('says nothing where nothing is shared', () => {
  expect(sharingRows(createCounters([]).read())).toEqual([])
})

it('names what was learnt with its delay, what was shared, and each reason', () => {
  const { emit, read } = createCounters([])
  emit({ event: 'verdicts_learnt', verdicts: 900 })
  emit({ event: 'verdicts_restored', verdicts: 900, ms: 900, isWhole: true })
  emit({ event: 'verdicts_learnt', verdicts: 3, delayMs: 250 })
  emit({ event: 'verdicts_appended', verdicts: 7 })
  emit({ event: 'verdicts_not_shared', verdicts: 1, reason: 'too_large' })
  emit({ event: 'verdicts_refused', verdicts: 2, reason: 'bad_signature' })
  emit({ event: 'verdicts_refused', verdicts: 1, reason: 'future' })
  expect(sharingRows(read())).toEqual([
    ['Received from others', '903', 'the last one took 250 ms to arrive'],
    ['Own verdicts, shared', '7', ''],
    ['Own verdicts, not shared', '1', 'too large: 1'],
    ['Rejected records', '3', 'bad signature: 2, future: 1'],
  ])
})
