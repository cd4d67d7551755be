// Splits an OpenTelemetry request in Protobuf into one request per log record, each with its resource and scope.
import { applyEdits, createCuts } from '../annotate/edit.js'
import { findLogRecords, type Frame } from './find-log-records.js'
import { innerOf, logRecord, request, resourceLogs, scopeLogs, type Message } from './log-messages.js'
import { FieldReader, varintOf } from './protobuf-fields.js'

type AloneInRequest = { readonly own: Buffer; readonly logRecord: Frame }

/** Undefined if the copies of resource and scope would take more than `maxBytes`. */
export const aloneInRequest = (
  bytes: Buffer,
  frames: readonly Frame[],
  maxBytes: number,
): readonly AloneInRequest[] | undefined => {
  const known = new Map<Frame | undefined, Buffer>()
  const around = (frame: Frame | undefined, message: Message, child: Message): Buffer => {
    const rest = known.get(frame) ?? without(bytes, frame ?? { from: 0, to: bytes.length }, message, child)
    known.set(frame, rest)
    return rest
  }
  let left = maxBytes
  const alone: AloneInRequest[] = []
  for (const frame of frames) {
    const { parent: scope } = frame
    const resource = scope?.parent
    if (!scope || !resource) return undefined
    const top = around(undefined, request, resourceLogs)
    const ofResource = around(resource, resourceLogs, scopeLogs)
    const ofScope = around(scope, scopeLogs, logRecord)
    left -= top.length + ofResource.length + ofScope.length
    if (left < 0) return undefined
    const inScope = again(bytes, scope, [ofScope, bytes.subarray(frame.start, frame.to)])
    const own = Buffer.concat([top, again(bytes, resource, [ofResource, inScope])])
    const found = findLogRecords(own, undefined, 1)?.frames[0]
    if (!found) return undefined
    alone.push({ own, logRecord: found })
  }
  return alone
}

/** The content of a message without nested messages of one kind. */
const without = (
  bytes: Buffer,
  { from, to }: { readonly from: number; readonly to: number },
  message: Message,
  child: Message,
): Buffer => {
  const cuts = createCuts()
  const field = new FieldReader(bytes, from, to)
  while (field.next())
    if (innerOf(message, field) === child) cuts.add({ from: field.start - from, to: field.to - from })
  return applyEdits(bytes.subarray(from, to), cuts.edits)
}

/** Writes the field of a message again with other content. */
const again = (bytes: Buffer, { start, lengthAt }: Frame, content: readonly Buffer[]): Buffer => {
  const length = content.reduce((sum, one) => sum + one.length, 0)
  return Buffer.concat([bytes.subarray(start, lengthAt), varintOf(length), ...content])
}
