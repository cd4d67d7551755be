// The completion script in a real bash; zsh and fish are tried among the tools.
import { beforeAll, describe, expect, it } from 'vitest'
import { completionCases, inShell, scriptFor } from '../../support/completion.js'
import { runCommand } from '../../support/run-command.js'

describe('the script for bash', () => {
  let script: string
  beforeAll(async () => {
    script = await scriptFor('bash')
  })

  const completed = (words: readonly string[]): readonly string[] => {
    const program = `source "$0"; COMP_WORDS=(threatweave "$@"); COMP_CWORD=$#; _threatweave; printf '%s\\n' "\${COMPREPLY[@]}"`
    return inShell('bash', ['--norc', '-c', program, script, ...words]).toSorted()
  }

  it.each(completionCases)('completes `%s` with %j', (typed, offers) => {
    expect(completed(typed.split(' '))).toEqual(offers)
  })

  it('completes the value behind an equals sign, which bash splits off', () => {
    expect(completed(['lookup', '--role', '=', 'des'])).toEqual(['destination'])
    expect(completed(['lookup', '--role', '='])).toContain('source')
    expect(completed(['lookup', '--role', '=', 'source', 'dom'])).toEqual(['domain'])
  })

  it('is what bash runs for the command', () => {
    expect(inShell('bash', ['--norc', '-c', 'source "$0"; complete -p threatweave', script])).toEqual([
      'complete -F _threatweave threatweave',
    ])
  })
})

describe('completion', () => {
  it.each([[[]], [['tcsh']], [['bash', 'zsh']]])('refuses %j, and names the shells there are', async (shells) => {
    expect(await runCommand(['completion', ...shells])).toEqual({
      code: 64,
      stdout: '',
      stderr: 'threatweave: completion takes the name of one shell: bash, zsh, fish\n',
    })
  })
})
