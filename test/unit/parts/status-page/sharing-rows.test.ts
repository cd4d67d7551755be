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
    ['Learnt from others', '903', 'the last was on its way for 250 ms'],
    ['Paid for here and shared', '7', ''],
    ['Paid for here and not shared', '1', 'too large: 1'],
    ['Records that are not believed', '3', 'bad signature: 2, future: 1'],
  ])
})
