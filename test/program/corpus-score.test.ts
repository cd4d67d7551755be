// The score of `extract` on the corpus, if it is available.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const folder = resolve(root, '../shared/corpus')
const there = existsSync(resolve(folder, 'score.mjs'))

const score = (): string =>
  spawnSync(
    process.execPath,
    [
      resolve(folder, 'score.mjs'),
      resolve(folder, 'firewall-logs.ndjson'),
      '--',
      process.execPath,
      'dist/cli.js',
      'extract',
    ],
    { cwd: root, encoding: 'utf8' },
  ).stdout

describe.skipIf(!there)(`the scorer of the corpus${there ? '' : ' (there is none beside the repository)'}`, () => {
  const said = there ? score() : ''
  const number = (pattern: RegExp): number => Number(pattern.exec(said)?.[1])

  it.each([
    ['addresses found', /^ip: recall ([\d.]+)/m, 0.9945],
    ['names found', /^domain: recall ([\d.]+)/m, 0.99],
    ['sources right', /^source: right ([\d.]+)/m, 0.95],
    ['destinations right', /^destination: right ([\d.]+)/m, 0.95],
    ['actions right', /^action: right ([\d.]+)/m, 0.8],
    ['actions right when given', /^action when given: right ([\d.]+)/m, 0.97],
  ])('finds enough %s', (_, pattern, least) => {
    expect(number(pattern)).toBeGreaterThanOrEqual(least)
  })

  it('finds little else', () => {
    expect(number(/^ip: .*junk lookups (\d+)/m) + number(/^domain: .*junk lookups (\d+)/m)).toBeLessThanOrEqual(2)
    expect(number(/([\d.]+) for each that must be found/)).toBeLessThanOrEqual(2)
  })
})
