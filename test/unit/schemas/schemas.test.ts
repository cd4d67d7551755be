// Holds schemas/ to the closed lists of the vocabulary and to the configuration as it is declared.
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { configSchema } from '../../../src/config/schema.js'
import { statuses } from '../../../src/domain/annotation.js'
import { decisions } from '../../../src/domain/decision.js'
import { levels } from '../../../src/domain/finding.js'
import { flags } from '../../../src/domain/flag.js'
import { indicatorTypes } from '../../../src/domain/indicator.js'
import { readings } from '../../../src/domain/reading.js'
import { reasons } from '../../../src/domain/reason.js'
import { actions, directions, roles } from '../../../src/domain/sighting.js'
import { readSchema } from '../../support/annotation-schema.js'

type Definitions = Readonly<Record<string, { readonly enum: readonly string[] }>>

describe('schemas/annotation.schema.json', () => {
  const schema = readSchema('annotation') as { definitions: Definitions; properties: Record<string, object> }
  it.each([
    ['status', statuses],
    ['level', levels],
    ['type', indicatorTypes],
    ['role', roles],
    ['direction', directions],
    ['action', actions],
    ['decision', decisions],
    ['flag', flags],
    ['reason', reasons],
    ['reading', readings.filter((reading) => reading !== 'json')],
  ] as const)('has the closed list of %s', (name, list) => {
    expect(schema.definitions[name]!.enum).toEqual(list)
  })

  it('has every flag as a flat member', () => {
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining([...flags]))
  })
})

describe('schemas/dead-letter.schema.json', () => {
  const validate = new Ajv().compile(readSchema('dead-letter'))
  const headers = {
    'threatweave.reason': 'too_large',
    'threatweave.value': 'original',
    'threatweave.topic': 'firewall',
    'threatweave.partition': '3',
    'threatweave.offset': '9007199254740993',
    'x-own-header': 'kept',
  }
  const pointer = { topic: 'firewall', partition: 3, offset: '9007199254740993', size: 1_200_000, sha256: 'a'.repeat(64) }
  const pointing = { ...headers, 'threatweave.value': 'pointer' }
  it.each([
    ['the event itself', { headers }, true],
    ['a pointer to it', { headers: pointing, pointer }, true],
    ['a pointer that is missing', { headers: pointing }, false],
    ['an offset that lost its digits', { headers: pointing, pointer: { ...pointer, offset: 9007199254740992 } }, false],
    ['headers without a reason', { headers: { ...headers, 'threatweave.reason': 'why' } }, false],
  ])('judges %s', (_, letter, valid) => {
    expect(validate(letter)).toBe(valid)
  })
})

describe('schemas/config.schema.json', () => {
  it('is the configuration as it is declared (after a change: npx vitest run test/unit/schemas -u)', async () => {
    await expect(`${JSON.stringify(configSchema, null, 2)}\n`).toMatchFileSnapshot('../../../schemas/config.schema.json')
  })
})
