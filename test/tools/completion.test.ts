// The completion scripts in zsh and fish, from Debian's packages.
import { beforeAll, describe, expect, it } from 'vitest'
import { completionCases, inShell, scriptFor } from '../support/completion.js'
import { findTool } from '../support/tools.js'

const pathOf = (shell: 'zsh' | 'fish'): string => {
  const found = findTool(shell)
  if ('missing' in found) throw new Error(found.missing)
  return found.path
}
const zsh = pathOf('zsh')
const fish = pathOf('fish')

describe('the script for zsh', () => {
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

  it.each(completionCases)('completes `%s` with %j', (typed, offers) => {
    const lines = inShell(zsh, ['-f', '-c', press, 'zsh', script, `threatweave ${typed}`])
    const offered = lines.flatMap((line) => /OFFER (\S+)/.exec(line)?.[1] ?? [])
    // Of a list, zsh offers what is behind the last comma.
    expect([...new Set(offered)].toSorted()).toEqual(offers.map((offer) => offer.split(',').at(-1)))
  })
})

describe('the script for fish', () => {
  let script: string
  beforeAll(async () => {
    script = await scriptFor('fish')
  })

  it.each(completionCases)('completes `%s` with %j', (typed, offers) => {
    const show = 'source $argv[1]; complete -C $argv[2]'
    const lines = inShell(fish, ['--no-config', '-c', show, script, `threatweave ${typed}`])
    const completed = lines.map((line) => line.split('\t')[0] ?? '')
    expect(completed.toSorted()).toEqual(offers)
  })
})
