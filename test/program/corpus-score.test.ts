// What the corpus's own scorer says about `extract`, where both are at hand.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const folder = resolve(root, '../shared/corpus')
const there = existsSync(resolve(folder, 'score.mjs')) && existsSync(resolve(root, 'dist/cli.js'))

describe.runIf(there)('the scorer of the corpus', () => {
  const { stdout } = spawnSync(
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
  )
  const number = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1])

  it.each([
    ['addresses found', /^ip: recall ([\d.]+)/m, 0.999],
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

if (!there)
  describe('the scorer of the corpus', () => {
    it('is not at hand, so nothing is scored in this run', ({ annotate }) => annotate('scorer or build not found'))
  })
