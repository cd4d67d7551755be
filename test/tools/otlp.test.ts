// Requests that OpenTelemetry's own Python classes wrote, through the pipeline, and read with them again.
import { resolve } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { provisionOtlp, run } from '../../scripts/tools.mjs'
import { eventsOf } from '../../src/delivery/chunks.js'
import { incoming, openOtlpApp } from '../support/otlp-app.js'
import { otlpLogs } from '../support/otlp.js'

const { python = '', missing } = provisionOtlp()

if (missing !== undefined)
  it("is not tested for want of OpenTelemetry's messages, which is a failure in CI", () => {
    process.stderr.write(`${missing}\n`)
    expect(process.env.CI ?? '').toBe('')
  })

const script = resolve(import.meta.dirname, '../support/otlp-python/requests.py')
const inPython = (lines: readonly unknown[]): readonly unknown[] => {
  const input = lines.map((line) => JSON.stringify(line)).join('\n')
  const { ok, output, stdout } = run(python, [script], { input })
  if (!ok) throw new Error(output)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}

/** Ids are hexadecimal in OpenTelemetry's JSON, and base64 in that of Protobuf. */
const idsInBase64 = (logs: object): object =>
  JSON.parse(
    JSON.stringify(logs, (name, value: unknown) =>
      name === 'traceId' || name === 'spanId' ? Buffer.from(value as string, 'hex').toString('base64') : value,
    ),
  ) as object

it.runIf(missing === undefined)(
  'what OpenTelemetry wrote is what it reads, with the annotation that the JSON form has',
  async () => {
    const app = await openOtlpApp()
    const listed = { body: { stringValue: 'lookup of c2.botnet.example.org' }, severityNumber: 9 }
    const samples = fc.sample(otlpLogs, { numRuns: 400, seed: 37 })
    const logs = [{ resourceLogs: [{ scopeLogs: [{ logRecords: [listed, {}, listed] }] }] }, ...samples]
    const given = (inPython(logs.map(idsInBase64)) as readonly string[]).map((text) => Buffer.from(text, 'base64'))
    const bytesOf = async (topic: string, values: readonly Buffer[]): Promise<readonly Buffer[]> => {
      const records = values.map((value, nth) => incoming(topic, value, { origin: `logs/0/${nth}` }))
      return (await eventsOf(records, app.pipeline)).map((event) => event?.bytes() ?? Buffer.alloc(0))
    }
    const written = await bytesOf('proto', given)
    const inJson = await bytesOf(
      'json',
      logs.map((one) => Buffer.from(JSON.stringify(one))),
    )
    await app.close()
    const compared = inPython(
      given.map((bytes, nth) => ({
        given: bytes.toString('base64'),
        written: written[nth]?.toString('base64'),
        json: idsInBase64(withoutTop(JSON.parse(String(inJson[nth])) as object)),
      })),
    ) as readonly { readonly records: number; readonly annotated: number }[]
    for (const one of compared)
      expect(one).toEqual({
        sameAsJson: true,
        sameWithoutAnnotation: true,
        isLogsData: true,
        records: one.records,
        annotated: one.records,
      })
    expect(compared.reduce((sum, { records }) => sum + records, 0)).toBeGreaterThan(300)
  },
)

/** JSON without log records is an object as any other, and annotated as one. */
const withoutTop = ({ threatweave: _, ...logs }: { readonly threatweave?: unknown }): object => logs
