// Golden cases: a folder under test/cases holds input.log and expected.ndjson, one line for each line.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { decode } from '../../../src/pipeline/decode.js'
import { createExtract } from '../../../src/pipeline/extract.js'

const folder = join(import.meta.dirname, '../../cases')
const settings = { fields: {}, maxIndicators: 64, maxDepth: 64, maxEventBytes: 1_048_576 }
const linesOf = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')

describe('golden cases', () => {
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'expected.ndjson')))
  it.each(names)('reads %s', (name) => {
    const extract = createExtract(settings)
    const read = linesOf(join(folder, name, 'input.log')).map((line) => {
      const { action, sightings } = extract(decode(Buffer.from(line), settings))
      return { action, indicators: sightings.map(({ type, value, field, role }) => ({ type, value, field, role })) }
    })
    expect(read).toEqual(linesOf(join(folder, name, 'expected.ndjson')).map((line) => JSON.parse(line) as unknown))
  })
})
