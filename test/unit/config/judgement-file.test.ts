// The file of judgement rows: what it says takes the place of the built-in table, and what is wrong with it is told with its line.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readJudgementFile } from '../../../src/config/judgement-file.js'
import { describeProblem } from '../../../src/config/problem.js'
import { shippedTable } from '../../../src/domain/judgement-table.js'

const read = (text: string) => readJudgementFile({ name: 'mine.yaml', text })
const problemsOf = (text: string): string[] => {
  const found = read(text)
  return 'problems' in found ? found.problems.map(describeProblem) : []
}

describe('a judgement file', () => {
  it('is the built-in table in examples/judgement.yaml, word for word', () => {
    const text = readFileSync(resolve(import.meta.dirname, '../../../examples/judgement.yaml'), 'utf8')
    expect(read(text)).toEqual({ table: shippedTable })
    for (const name of Object.keys(shippedTable.rows)) expect(text).toContain(`  ${name}:`)
    for (const name of Object.keys(shippedTable)) expect(text).toMatch(new RegExp(`^${name}:`, 'm'))
  })

  it('changes what it names and nothing else', () => {
    expect(read('rows: { dangerous: { level: malicious }, scanner: { level: clean, score: 5 } }\nsigns: 3\n')).toEqual({
      table: {
        ...shippedTable,
        rows: {
          ...shippedTable.rows,
          dangerous: { level: 'malicious', score: 75 },
          scanner: { level: 'clean', score: 5 },
        },
        signs: 3,
      },
    })
  })

  it('may be empty, and is then the built-in one', () => {
    expect(read('# nothing yet\n')).toEqual({ table: shippedTable })
  })

  it.each([
    [
      'rows:\n  dangerus: { level: malicious }\n',
      'rows.dangerus is not a setting; did you mean dangerous? (mine.yaml:2)',
    ],
    [
      'rows: { dangerous: { level: bad } }',
      'rows.dangerous.level must be one of malicious, suspicious, clean, flag (mine.yaml:1)',
    ],
    ['signs: 9', 'signs must be <= 4 (mine.yaml:1)'],
    ['categories: Malware', 'categories must be a list, such as [one, two] (mine.yaml:1)'],
    ['- a', 'mine.yaml must hold settings as `name: value` lines'],
    [
      'a: [',
      'mine.yaml is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
  ])('is refused for %j, in words', (text, sentence) => {
    expect(problemsOf(text).some((problem) => problem.startsWith(sentence))).toBe(true)
  })
})
