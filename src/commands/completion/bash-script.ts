// The completion script for bash 3.2 and later.
import type { Takes } from '../../terminal/command.js'
import type { CompletedCommand, CompletedOption } from './completed-command.js'

export const bashScript = (commands: readonly CompletedCommand[]): string => `# Completion of threatweave for bash.
_threatweave_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}
_threatweave_list() {
  local before=''
  [[ $cur == *,* ]] && before=\${cur%,*},
  COMPREPLY=($(compgen -P "$before" -W "$1" -- "\${cur##*,}"))
}
# Bash completes the file itself, with its own quoting; before version 4 only its names are listed.
_threatweave_files() {
  local IFS=$'\\n'
  compopt -o default 2> /dev/null || COMPREPLY=($(compgen -f -- "$cur"))
}
_threatweave() {
  local IFS=$' \\t\\n' cur=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} place=0 i
  COMPREPLY=()
  # --option=value arrives as three words.
  if [[ $cur == = ]]; then cur=''; elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if ((COMP_CWORD == 1)); then
    _threatweave_words '${words([...commands.map(({ name }) => name), '--help', '--version'])}'
    return
  fi
  case "\${COMP_WORDS[1]} $before" in
${commands.flatMap(valuesOf).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case "\${COMP_WORDS[1]}" in
${commands.map(({ name, options }) => `      ${name}) _threatweave_words '${words(options.map((option) => `--${option.name}`))}' ;;`).join('\n')}
    esac
    return
  fi
  for ((i = 2; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[1]} \${COMP_WORDS[i]}" in
      ${commands.flatMap(({ name, options }) => options.filter(hasValue).flatMap((option) => patternsOf(name, option))).join(' | ')})
        ((i++))
        [[ \${COMP_WORDS[i]} == = ]] && ((i++)) ;;
      *' '-?*) ;;
      *) ((place++)) ;;
    esac
  done
  case "\${COMP_WORDS[1]} $place" in
${commands.flatMap(argumentsOf).join('\n')}
  esac
}
complete -F _threatweave threatweave
`

const words = (all: readonly string[]): string => all.join(' ')

const hasValue = (option: CompletedOption): option is CompletedOption & { readonly value: Takes } =>
  option.value !== undefined

const patternsOf = (command: string, { name, short }: CompletedOption): readonly string[] => [
  `'${command} --${name}'`,
  ...(short === undefined ? [] : [`'${command} -${short}'`]),
]

const valuesOf = ({ name, options }: CompletedCommand): readonly string[] =>
  options
    .filter(hasValue)
    .map((option) => `    ${patternsOf(name, option).join(' | ')}) ${offer(option.value)}return ;;`)

const argumentsOf = ({ name, arguments: places }: CompletedCommand): readonly string[] =>
  places.flatMap((takes, place) => {
    const offered = offer(takes)
    const pattern = place === places.length - 1 ? `'${name} '*` : `'${name} ${place}'`
    return offered === '' && place === places.length - 1 ? [] : [`    ${pattern}) ${offered};;`]
  })

const offer = (takes: Takes): string => {
  if (takes === 'file') return '_threatweave_files; '
  if ('listOf' in takes) return `_threatweave_list '${words(takes.listOf)}'; `
  return takes.length === 0 ? '' : `_threatweave_words '${words(takes)}'; `
}
