// The completion scripts in real shells: bash everywhere, zsh and fish where they are installed.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../../support/run-command.js'

const folder = mkdtempSync(join(tmpdir(), 'completion-'))
writeFileSync(join(folder, 'firewall.log'), '')
mkdirSync(join(folder, 'feeds'))

const isInstalled = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0
const inShell = (shell: string, args: readonly string[]): readonly string[] => {
  const { stdout, stderr, status } = spawnSync(shell, args, { encoding: 'utf8', cwd: folder, timeout: 600_000 })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  return stdout.split('\n').filter((line) => line !== '')
}
const scriptFor = async (shell: string): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(['completion', shell])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const path = join(folder, `_threatweave.${shell}`)
  writeFileSync(path, stdout)
  return path
}

/** What is typed, the last word being the one that is completed, and what is offered. */
const cases: readonly (readonly [typed: string, offers: readonly string[]])[] = [
  ['xx', []],
  ['lo', ['lookup']],
  ['help ta', ['tail']],
  ['lookup --r', ['--role']],
  ['lookup --role des', ['destination']],
  ['lookup ', ['domain', 'ip']],
  ['lookup --role source dom', ['domain']],
  ['rules ', ['check', 'test']],
  ['tail --verdict malicious,sus', ['malicious,suspicious']],
  ['tail --value ', []],
  ['completion ', ['bash', 'fish', 'zsh']],
  ['api exploit', ['exploit/search']],
  ['run --config fire', ['firewall.log']],
  ['extract fire', ['firewall.log']],
  ['rules check fire', ['firewall.log']],
  ['run fire', []],
]

describe('the script for bash', () => {
  let script: string
  beforeAll(async () => {
    script = await scriptFor('bash')
  })

  const completed = (words: readonly string[]): readonly string[] => {
    const program = `source "$0"; COMP_WORDS=(threatweave "$@"); COMP_CWORD=$#; _threatweave; printf '%s\\n' "\${COMPREPLY[@]}"`
    return inShell('bash', ['--norc', '-c', program, script, ...words]).toSorted()
  }

  it.each(cases)('completes `%s` with %j', (typed, offers) => {
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

describe.runIf(isInstalled('zsh'))('the script for zsh', () => {
  let script: string
  beforeAll(async () => {
    script = await scriptFor('zsh')
  })

  /** A zsh in a terminal of its own, in which a line is typed and the Tab key pressed; each offer is a line of its output. */
  const press = `
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "PS1=; autoload -Uz compinit; compinit -u -D; source $1"
    zpty -w shell "report() { compstate[insert]=; compstate[list]=; echo END }"
    zpty -w shell 'compadd() { local -a found; builtin compadd -O found "$@"; print -l "OFFER "\${^found}; builtin compadd "$@" }'
    zpty -w shell 'offer() { comppostfuncs=(report); zle complete-word }; zle -N offer; bindkey "^I" offer; echo READY'
    while zpty -r shell line; do [[ $line == READY* ]] && break; done
    zpty -w -n shell "$2"$'\\t'
    while zpty -r shell line; do print -r -- "$line"; [[ $line == END* ]] && break; done
    zpty -d shell`

  it.each(cases)('completes `%s` with %j', (typed, offers) => {
    const lines = inShell('zsh', ['-f', '-c', press, 'zsh', script, `threatweave ${typed}`])
    const offered = lines.flatMap((line) => /OFFER (\S+)/.exec(line)?.[1] ?? [])
    // Of a list, zsh offers what is behind the last comma.
    expect([...new Set(offered)].toSorted()).toEqual(offers.map((offer) => offer.split(',').at(-1)))
  })
})

describe.runIf(isInstalled('fish'))('the script for fish', () => {
  let script: string
  beforeAll(async () => {
    script = await scriptFor('fish')
  })

  it.each(cases)('completes `%s` with %j', (typed, offers) => {
    const show = 'source $argv[1]; complete -C $argv[2]'
    const lines = inShell('fish', ['--no-config', '-c', show, script, `threatweave ${typed}`])
    const completed = lines.map((line) => line.split('\t')[0] ?? '')
    expect(completed.toSorted()).toEqual(offers)
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
