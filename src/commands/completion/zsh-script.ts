// The completion script for zsh, to source or to put on the fpath.
import type { Takes } from '../../terminal/command.js'
import type { CompletedCommand, CompletedOption } from './completed-command.js'
import { inQuotes } from '../../terminal/shell-word.js'

export const zshScript = (commands: readonly CompletedCommand[]): string => `#compdef threatweave
# Completion of threatweave for zsh.
_threatweave() {
  local -a commands
  if ((CURRENT == 2)); then
    commands=(
${commands.map(({ name, summary }) => `      ${inQuotes(`${name}:${summary.replaceAll(':', '\\:')}`)}`).join('\n')}
    )
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${commands.map(caseOf).join('\n')}
  esac
}
if [[ $funcstack[1] == _threatweave ]]; then _threatweave "$@"; else compdef _threatweave threatweave; fi
`

const caseOf = ({ name, options, arguments: places }: CompletedCommand): string => {
  const rows = [
    ...options.map(optionRow),
    ...places.map((takes, at) => inQuotes(`${at === places.length - 1 ? '*' : at + 1}:argument:${action(takes)}`)),
  ]
  return `    ${name})\n      _arguments -s \\\n        ${rows.join(' \\\n        ')} ;;`
}

const optionRow = ({ name, short, about, value }: CompletedOption): string => {
  const rest = `[${escaped(about)}]${value === undefined ? '' : `:${name}:${action(value)}`}`
  const long = `--${name}${value === undefined ? '' : '='}`
  return short === undefined
    ? inQuotes(`*${long}${rest}`)
    : `${inQuotes(`(-${short} --${name})`)}{-${short},${long}}${inQuotes(rest)}`
}

const action = (takes: Takes): string => {
  if (takes === 'file') return '_files'
  if ('listOf' in takes) return `_sequence compadd - ${takes.listOf.join(' ')}`
  return takes.length === 0 ? ' ' : `(${takes.join(' ')})`
}

const escaped = (text: string): string => text.replace(/[[\]\\:]/g, '\\$&')
