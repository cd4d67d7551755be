// The bundled sources and the template: each is as its schema says, and its examples give what they say.
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSourceFile } from '../../../../src/config/source-file.js'
import { wrongExamples } from '../../../../src/provider/wrong-source-examples.js'

const root = resolve(import.meta.dirname, '../../../..')
const files = [
  ...readdirSync(`${root}/sources`)
    .filter((name) => name !== 'lookup-service.yaml')
    .map((name) => `sources/${name}`),
  'examples/source.yaml',
]

describe.each(files)('%s', (file) => {
  const read = readSourceFile({ name: file, text: readFileSync(`${root}/${file}`, 'utf8') })
  it('can be read, and its examples give what they say', () => {
    expect('problems' in read ? read.problems : wrongExamples(read.source)).toEqual([])
  })

  it('has the name of its file, terms, and examples of an accusation, of no opinion and of a failure', () => {
    if ('problems' in read) throw new Error('unreadable')
    const { source } = read
    if (file.startsWith('sources/')) expect(file).toBe(`sources/${source.id}.yaml`)
    expect(source.terms.note).not.toBe('')
    const given = new Set(source.examples.map(({ gives }) => gives))
    expect(given.has('malicious') || given.has('suspicious')).toBe(true)
    expect([...given]).toEqual(expect.arrayContaining(['nothing']))
    expect(source.examples.some(({ status }) => status !== 200)).toBe(true)
  })
})

it('an example that gives something else is told with what it gives', () => {
  const text = readFileSync(`${root}/examples/source.yaml`, 'utf8')
    .replace('risk: 93', 'risk: 40')
    .replace('score: 90\n', 'score: 91\n')
  const read = readSourceFile({ name: 'mine.yaml', text })
  expect('source' in read && wrongExamples(read.source)).toEqual([
    { nth: 0, message: 'should give malicious and gives nothing' },
    { nth: 1, message: 'should give score 91 and gives 90' },
  ])
})
