// Formats a protocol message as a short line of the timeline.
import { batchHead, errors, splitBatches, type ApiName } from '../wire.js'

/** Fields that are not informative in a timeline. */
const left = new Set(['throttleTimeMs', 'replicaId', 'sessionId', 'sessionEpoch', 'rackId', 'forgotten', 'preferredReadReplica', 'logAppendTimeMs', 'currentLeaderEpoch', 'partitionMaxBytes', 'maxBytes', 'minBytes', 'timeoutMs', 'groupInstanceId']) // prettier-ignore
const errorNames = new Map<number, string>(Object.entries(errors).map(([name, code]) => [code, name]))

export const describeMessage = (api: ApiName, body: unknown): string =>
  body === undefined ? `${api}: no answer` : `${api} ${describe('', body)}`.slice(0, 400)

const describe = (name: string, value: unknown): string => {
  if (Buffer.isBuffer(value)) return name === 'records' ? describeBatches(value) : `<${value.length}>`
  if (Array.isArray(value)) return `[${value.map((one) => describe('', one)).join(' ')}]`
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .filter(([key]) => !left.has(key))
      .map(([key, one]) => described(key, one))
      .filter((text) => text !== '')
      .join(' ')
  return String(value)
}

const described = (name: string, value: unknown): string => {
  if (name === 'errorCode') return value === 0 ? '' : (errorNames.get(value as number) ?? `error ${String(value)}`)
  if (name === 'topic' || name === 'topics' || name === 'partitions') return describe(name, value)
  return `${name}=${describe(name, value)}`
}

const describeBatches = (bytes: Buffer): string =>
  splitBatches(bytes)
    .map((batch) => {
      const { baseOffset, lastOffset, control, transactional, producerId, producerEpoch, baseSequence, count } =
        batchHead(batch)
      if (control) return `marker@${baseOffset}`
      const producer =
        producerId < 0 ? '' : ` ${transactional ? 'txn ' : ''}p${producerId}.${producerEpoch} seq ${baseSequence}`
      return `${count}@${baseOffset}-${lastOffset}${producer}`
    })
    .join(',')
