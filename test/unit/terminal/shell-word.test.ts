// A path is one word for a shell, whatever is in it.
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { shellWord } from '../../../src/terminal/shell-word.js'

describe('a word for a shell', () => {
  it('is left as it is where nothing in it has a meaning', () => {
    expect(shellWord('/opt/threatweave/dist/cli.js')).toBe('/opt/threatweave/dist/cli.js')
  })

  it.each(["it's", 'a b', '$HOME', '`id`', '"', '*', 'a\\b', ''])('reaches the program unchanged: %s', (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text)
  })
})
