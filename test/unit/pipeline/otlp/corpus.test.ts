// Real log lines as OpenTelemetry carries them, in Protobuf and in JSON, where the corpora are at hand; their lines are not part of this repository.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isObject, parseObject } from '../../../../src/base/json-object.js'
import { eventsOf } from '../../../../src/delivery/chunks.js'
import { createAnnotationKey } from '../../../../src/pipeline/annotate/annotation-key.js'
import { withoutAttributes } from '../../../../src/pipeline/otlp/find-log-records.js'
import { incoming, openOtlpApp } from '../../../support/otlp-app.js'
import { otlpRequest } from '../../../support/otlp.js'

const folder = resolve(import.meta.dirname, '../../../../../shared/corpus')
const files = ['firewall-logs.ndjson', 'more-logs.ndjson'].map((name) => resolve(folder, name))
const there = files.every((file) => existsSync(file))
const lines = there
  ? files
      .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
      .map((row) => (JSON.parse(row) as { raw: string }).raw)
  : []

const anyValue = (value: unknown): object => {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
  if (isObject(value))
    return { kvlistValue: { values: Object.entries(value).map(([key, one]) => ({ key, value: anyValue(one) })) } }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  return value === null ? {} : { stringValue: value }
}
/** An object as collectors carry it: as the body, or taken apart into attributes. */
const recordsOf = (raw: string): readonly object[] => {
  const object = parseObject(Buffer.from(raw))
  if (!object) return [{ body: { stringValue: raw } }]
  const attributes = Object.entries(object).map(([key, value]) => ({ key, value: anyValue(value) }))
  return [{ body: { stringValue: raw } }, { body: anyValue(object) }, { attributes }]
}

describe.skipIf(!there)(
  `the corpora in OpenTelemetry's requests${there ? '' : ' (there are none beside the repository)'}`,
  () => {
    it('have the same findings in Protobuf as in JSON, line by line, and their bytes when the annotation is cut out', async () => {
      const app = await openOtlpApp({ output: { detail: 'full' } })
      const { isAnnotationName } = createAnnotationKey('threatweave')
      let found = 0
      for (let from = 0; from < lines.length; from += 50) {
        const logRecords = lines.slice(from, from + 50).flatMap(recordsOf)
        const logs = { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }
        const given = otlpRequest(logs)
        const [proto] = await eventsOf([incoming('proto', given)], app.pipeline)
        const [json] = await eventsOf([incoming('json', Buffer.from(JSON.stringify(logs)))], app.pipeline)
        expect(proto?.members).toHaveLength(logRecords.length)
        expect(proto?.members?.map(({ annotation }) => annotation)).toEqual(
          json?.members?.map(({ annotation }) => annotation),
        )
        found += proto?.members?.reduce((sum, { judged }) => sum + judged.length, 0) ?? 0
        const written = proto?.bytes() ?? Buffer.alloc(0)
        expect(withoutAttributes(written, isAnnotationName).equals(given)).toBe(true)
        expect(
          written.equals(otlpRequest(JSON.parse(String(json?.bytes())) as Parameters<typeof otlpRequest>[0])),
        ).toBe(true)
      }
      await app.close()
      expect(found).toBeGreaterThan(lines.length)
    })
  },
)
