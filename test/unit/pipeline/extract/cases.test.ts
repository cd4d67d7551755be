// Golden cases, read as a run reads them: a folder under test/cases holds input.log and expected.ndjson, one line for each line.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createReading } from '../../../support/reading.js'

const folder = join(import.meta.dirname, '../../../cases')
const linesOf = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')

const isObject = (line: string): boolean => {
  try {
    return line.startsWith('{') && typeof JSON.parse(line) === 'object'
  } catch {
    return false
  }
}

describe('golden cases', () => {
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'expected.ndjson')))
  it.each(names)('reads %s', (name) => {
    const read = createReading()
    const found = linesOf(join(folder, name, 'input.log')).map((line) => {
      const { extraction, isOnePass } = read(Buffer.from(line))
      const { action, sightings } = extraction
      expect(isOnePass, line).toBe(isObject(line))
      return { action, indicators: sightings.map(({ type, value, field, role }) => ({ type, value, field, role })) }
    })
    expect(found).toEqual(linesOf(join(folder, name, 'expected.ndjson')).map((line) => JSON.parse(line) as unknown))
  })
})
