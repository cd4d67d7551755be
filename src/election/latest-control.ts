// Finds the valid record of the control topic: the last one from a gateway, ignoring records of other writers.
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

/** `known`: the last record read or written by this process. */
export const createLatestControl = (control: ControlTopic, known?: NumberedRecord): LatestControl => {
  let latest = known
  const ignored = new Map<Ignored, number>()
  const ignore = (why: Ignored): void => {
    ignored.set(why, (ignored.get(why) ?? 0) + 1)
  }
  return {
    take: (record) => {
      // Its writer is not a gateway and cannot have called the provider.
      if (!isOfGateway(control, record)) {
        ignore('not_signed')
        return
      }
      const { reserved = nothingReserved, sequence = 0 } = latest ?? {}
      // An unreadable record of another version still means that some gateway may be calling.
      const read = readControl(record) ?? { caller: '', reserved, sequence }
      // Without a key sequence numbers are not trustworthy.
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
