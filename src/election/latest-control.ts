// Which record of the control topic holds: the last one that a gateway wrote, whatever others write after it.
import type { WireRecord } from '../kafka/wire/record.js'
import { isOfGateway, readControl, type ControlTopic, type NumberedRecord } from './control-record.js'
import { nothingReserved } from './election.js'

/** Why a record does not count. */
type Ignored = 'not_signed' | 'repeated'

type LatestControl = {
  readonly take: (record: Pick<WireRecord, 'key' | 'value' | 'headers'>) => void
  readonly record: () => NumberedRecord | undefined
  readonly ignored: () => ReadonlyMap<Ignored, number>
}

/** `known`: what this process has read or written before. */
export const createLatestControl = (control: ControlTopic, known?: NumberedRecord): LatestControl => {
  let latest = known
  const ignored = new Map<Ignored, number>()
  const ignore = (why: Ignored): void => {
    ignored.set(why, (ignored.get(why) ?? 0) + 1)
  }
  return {
    take: (record) => {
      // Whoever wrote it has not called: only gateways have the key.
      if (!isOfGateway(control, record)) {
        ignore('not_signed')
        return
      }
      const { reserved = nothingReserved, sequence = 0 } = latest ?? {}
      // A gateway of another version may call whom it does not name.
      const read = readControl(record) ?? { caller: '', reserved, sequence }
      // Without a key a number says nothing: who may write can write any.
      if (control.key !== '' && read.sequence < sequence) {
        ignore('repeated')
        return
      }
      latest = read
    },
    record: () => latest,
    ignored: () => ignored,
  }
}
