// Holds schemas/ to the closed lists of the vocabulary and to the configuration as it is declared.
import { Ajv } from 'ajv'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readFormatFiles } from '../../../src/config/format-files.js'
import { judgementSchema } from '../../../src/config/judgement-file.js'
import { allSettings } from '../../../src/app/load-config.js'
import { profileSchema } from '../../../src/config/profile-file.js'
import { sourceSchema } from '../../../src/config/source-file.js'
import { silencesSchema } from '../../../src/parts/notify/silence-file.js'
import { sinkSchema } from '../../../src/parts/notify/sink-file.js'
import { annotatedTypes, statuses, contentKinds } from '../../../src/domain/annotation.js'
import { decisions } from '../../../src/domain/decision.js'
import { levels } from '../../../src/domain/finding.js'
import { flags } from '../../../src/domain/flag.js'
import { reasons } from '../../../src/domain/reason.js'
import { actions, directions, lineKinds, roles } from '../../../src/domain/sighting.js'
import { ecsNames } from '../../../src/pipeline/extract/ecs.js'
import { compose, type Step, type OutputTarget } from '../../../src/delivery/compose.js'
import { readSchema } from '../../support/annotation-schema.js'
import type { Incoming } from '../../../src/kafka/records.js'

type Definitions = Readonly<Record<string, { readonly enum: readonly string[] }>>

describe('schemas/annotation.schema.json', () => {
  const schema = readSchema('annotation') as { definitions: Definitions; properties: Record<string, object> }
  it.each([
    ['status', statuses],
    ['level', levels],
    ['type', annotatedTypes],
    ['role', roles],
    ['direction', directions],
    ['action', actions],
    ['decision', decisions],
    ['flag', flags],
    ['reason', reasons],
    ['reading', contentKinds.filter((reading) => reading !== 'json')],
  ] as const)('has the closed list of %s', (name, list) => {
    expect(schema.definitions[name]!.enum).toEqual(list)
  })

  it('has every flag as a flat member', () => {
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining([...flags]))
  })
})

describe('schemas/dead-letter.schema.json', () => {
  const validate = new Ajv({ formats: { 'date-time': true } }).compile(readSchema('dead-letter'))
  const value = Buffer.from(`{"long":"${'x'.repeat(5000)}"}`)
  const read: Incoming = {
    topic: 'firewall',
    partition: 3,
    offset: '9007199254740993',
    timestamp: '1800000000000',
    key: Buffer.from('k'),
    value,
    headers: [['x-own-header', Buffer.from('kept')]],
  } as unknown as Incoming
  const target = (maxDeadLetterBytes: number): OutputTarget => ({
    placement: 'json',
    key: 'threatweave',
    topic: 'out',
    deadLetterTopic: 'dead',
    maxBytes: 100,
    maxDeadLetterBytes,
    outputPartition: () => 0,
    deadLetterPartition: () => 0,
  })
  const headersOf = (step: Step, room: number): Record<string, string> =>
    Object.fromEntries(
      compose(read, undefined, target(room), 1_800_000_000_000, step).record.headers.map(([name, header]) => [
        name,
        String(header),
      ]),
    )
  it.each([
    ['with the event itself', headersOf('dead_letter', 1_000_000)],
    ['that only points', headersOf('pointer', 600)],
  ])('describes a letter %s', (_, headers) => {
    expect(validate(headers), JSON.stringify(validate.errors)).toBe(true)
  })

  it.each([
    ['without a reason', { 'threatweave-reason': 'Because!' }],
    ['whose offset is no number', { 'threatweave-offset': 'last' }],
    ['that tells a size without a hash', { 'threatweave-size': '12' }],
  ])('refuses a letter %s', (_, wrong) => {
    expect(validate({ ...headersOf('dead_letter', 1_000_000), ...wrong })).toBe(false)
  })
})

describe('schemas/format.schema.json', () => {
  const schema = readSchema('format') as { definitions: Definitions; properties: { id: { not: { enum: string[] } } } }
  const validate = new Ajv({ allowUnionTypes: true }).compile(schema)
  const documents = readFormatFiles([resolve(import.meta.dirname, '../../../formats')]).documents

  it('has the names that pieces may have, and the ids that no format may', () => {
    expect(schema.definitions.name!.enum).toEqual(ecsNames)
    expect(schema.properties.id.not.enum).toEqual(['none', ...lineKinds])
  })

  it.each(documents.map(({ value }) => [(value as { id: string }).id, value]))('describes %s', (_, format) => {
    expect(validate(format), JSON.stringify(validate.errors)).toBe(true)
  })

  it.each([
    ['an unknown name', { fields: { 2: 'src' } }],
    ['an unknown member', { priority: 1 }],
    ['an unknown name in its example', { example: { line: 'a,b', src: '192.0.2.1' } }],
    ['an id with another meaning', { id: 'json' }],
  ])('refuses a format with %s', (_, wrong) => {
    expect(validate({ id: 'acme', cut: 'csv', when: { 1: 'acme' }, fields: { 2: 'source.ip' } })).toBe(true)
    expect(validate({ id: 'acme', cut: 'csv', when: { 1: 'acme' }, ...wrong })).toBe(false)
  })
})

describe('schemas/source.schema.json', () => {
  it('is the file of a source as it is declared (after a change: npx vitest run test/unit/schemas -u)', async () => {
    await expect(`${JSON.stringify(sourceSchema, null, 2)}\n`).toMatchFileSnapshot(
      '../../../schemas/source.schema.json',
    )
  })
})

describe('schemas/sink.schema.json', () => {
  it('is the file of a sink as it is declared (after a change: npx vitest run test/unit/schemas -u)', async () => {
    await expect(`${JSON.stringify(sinkSchema, null, 2)}\n`).toMatchFileSnapshot('../../../schemas/sink.schema.json')
  })
})

describe('schemas/silences.schema.json', () => {
  it('is the file of silences as it is declared (after a change: npx vitest run test/unit/schemas -u)', async () => {
    await expect(`${JSON.stringify(silencesSchema, null, 2)}\n`).toMatchFileSnapshot(
      '../../../schemas/silences.schema.json',
    )
  })
})

describe('schemas/profile.schema.json', () => {
  it('is the profile of a service as it is declared (after a change: npx vitest run test/unit/schemas -u)', async () => {
    await expect(`${JSON.stringify(profileSchema, null, 2)}\n`).toMatchFileSnapshot(
      '../../../schemas/profile.schema.json',
    )
  })
})

describe('schemas/judgement.schema.json', () => {
  it('is the judgement file as it is declared (after a change: npx vitest run test/unit/schemas -u)', async () => {
    await expect(`${JSON.stringify(judgementSchema, null, 2)}\n`).toMatchFileSnapshot(
      '../../../schemas/judgement.schema.json',
    )
  })
})

describe('schemas/config.schema.json', () => {
  it('is the configuration as it is declared (after a change: npx vitest run test/unit/schemas -u)', async () => {
    await expect(`${JSON.stringify(allSettings.schema, null, 2)}\n`).toMatchFileSnapshot('../../../schemas/config.schema.json')
  })
})
