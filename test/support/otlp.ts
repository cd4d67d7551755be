// Writes OpenTelemetry logs in Protobuf from their JSON form, optionally in valid encodings that no exporter uses.
import fc from 'fast-check'

type Json = Readonly<Record<string, unknown>>

export type Spelling = {
  /** The number of unnecessary bytes in each length. */
  readonly padding?: number
  /** Unknown fields at the end of every message. */
  readonly unknown?: Buffer
}

export const varint = (value: number | bigint, padding = 0): Buffer => {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  do {
    bytes.push(Number(rest & 127n) | 128)
    rest >>= 7n
  } while (rest > 0n)
  for (let nth = 0; nth < padding; nth++) bytes.push(128)
  bytes.push(bytes.pop()! & 127)
  return Buffer.from(bytes)
}

export const delimited = (number: number, content: Buffer | string, padding = 0): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(Buffer.byteLength(content), padding), Buffer.from(content as string)])

const number = (field: number, value: number | bigint): Buffer => Buffer.concat([varint(field * 8), varint(value)])

const fixed64 = (field: number, write: (into: Buffer) => void): Buffer => {
  const content = Buffer.alloc(8)
  write(content)
  return Buffer.concat([varint(field * 8 + 1), content])
}

/** Encodes the JSON form of an `ExportLogsServiceRequest`. */
export const otlpRequest = (json: Json, { padding = 0, unknown = Buffer.alloc(0) }: Spelling = {}): Buffer => {
  const message = (field: number, ...parts: readonly Buffer[]): Buffer =>
    delimited(field, Buffer.concat([...parts, unknown]), padding)
  const listIn = (object: Json, name: string): readonly Json[] => (object[name] ?? []) as readonly Json[]
  const text = (field: number, value: unknown): readonly Buffer[] =>
    value === undefined ? [] : [delimited(field, value as string, padding)]

  const anyValue = (value: Json): readonly Buffer[] => {
    if ('stringValue' in value) return text(1, value.stringValue)
    if ('boolValue' in value) return [number(2, value.boolValue ? 1 : 0)]
    if ('intValue' in value) return [number(3, BigInt(value.intValue as string))]
    if ('doubleValue' in value) return [fixed64(4, (into) => into.writeDoubleLE(Number(value.doubleValue)))]
    if ('arrayValue' in value)
      return [message(5, ...listIn(value.arrayValue as Json, 'values').map((one) => message(1, ...anyValue(one))))]
    if ('kvlistValue' in value) return [message(6, ...attributes(1, value.kvlistValue as Json, 'values'))]
    if ('bytesValue' in value) return [delimited(7, Buffer.from(value.bytesValue as string, 'base64'), padding)]
    return []
  }
  const attributes = (field: number, object: Json, name = 'attributes'): readonly Buffer[] =>
    listIn(object, name).map((one) =>
      message(field, ...text(1, one.key), ...(one.value ? [message(2, ...anyValue(one.value as Json))] : [])),
    )
  const logRecord = (record: Json): readonly Buffer[] => [
    ...(record.timeUnixNano === undefined
      ? []
      : [fixed64(1, (into) => into.writeBigUInt64LE(BigInt(record.timeUnixNano as string)))]),
    ...(record.severityNumber === undefined ? [] : [number(2, record.severityNumber as number)]),
    ...text(3, record.severityText),
    ...(record.body ? [message(5, ...anyValue(record.body as Json))] : []),
    ...attributes(6, record),
    ...(record.traceId === undefined ? [] : [delimited(9, Buffer.from(record.traceId as string, 'hex'), padding)]),
    ...(record.spanId === undefined ? [] : [delimited(10, Buffer.from(record.spanId as string, 'hex'), padding)]),
  ]
  const scope = ({ name, version, ...rest }: Json): readonly Buffer[] => [
    ...text(1, name),
    ...text(2, version),
    ...attributes(3, rest),
  ]
  const scopeLogs = (logs: Json): readonly Buffer[] => [
    ...(logs.scope ? [message(1, ...scope(logs.scope as Json))] : []),
    ...listIn(logs, 'logRecords').map((one) => message(2, ...logRecord(one))),
    ...text(3, logs.schemaUrl),
  ]
  const resourceLogs = (logs: Json): readonly Buffer[] => [
    ...(logs.resource ? [message(1, ...attributes(1, logs.resource as Json))] : []),
    ...listIn(logs, 'scopeLogs').map((one) => message(2, ...scopeLogs(one))),
    ...text(3, logs.schemaUrl),
  ]
  return Buffer.concat([...listIn(json, 'resourceLogs').map((one) => message(1, ...resourceLogs(one))), unknown])
}

type Value = Json
const leaf: fc.Arbitrary<Value> = fc.oneof(
  fc.oneof(fc.string({ maxLength: 150 }), fc.ipV4(), fc.domain()).map((stringValue) => ({ stringValue })),
  fc.boolean().map((boolValue) => ({ boolValue })),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => ({ intValue: String(value) })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((doubleValue) => ({ doubleValue })),
)
const { value: nested } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }).map((values) => ({ arrayValue: { values } })),
    fc
      .array(fc.record({ key: fc.string({ maxLength: 10 }), value: tie('value') }), { maxLength: 4 })
      .map((values) => ({ kvlistValue: { values } })),
  ),
}))
/** Non-empty values, possibly nested. */
export const anyValues = nested

const attributeLists = fc.array(fc.record({ key: fc.string({ maxLength: 12 }), value: nested }), { maxLength: 5 })
const hexOf = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((one) => Buffer.from(one).toString('hex'))
const maybe = <Of>(one: fc.Arbitrary<Of>) => fc.option(one, { nil: undefined })
const withoutAbsent = <Of extends object>(object: Of): Of => JSON.parse(JSON.stringify(object)) as Of

/** Logs in the JSON form of exporters. */
export const otlpLogs = fc
  .record({
    resourceLogs: fc.array(
      fc.record({
        resource: maybe(fc.record({ attributes: attributeLists })),
        scopeLogs: fc.array(
          fc.record({
            scope: maybe(fc.record({ name: fc.string(), attributes: attributeLists })),
            logRecords: fc.array(
              fc.record({
                timeUnixNano: maybe(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String)),
                severityNumber: maybe(fc.integer({ min: 0, max: 24 })),
                body: maybe(nested),
                attributes: maybe(attributeLists),
                traceId: maybe(hexOf(16)),
                spanId: maybe(hexOf(8)),
              }),
              { maxLength: 4 },
            ),
            schemaUrl: maybe(fc.webUrl()),
          }),
          { maxLength: 3 },
        ),
      }),
      { maxLength: 3 },
    ),
  })
  .map(withoutAbsent)
