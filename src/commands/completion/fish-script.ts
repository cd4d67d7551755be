// The completion script for fish.
import type { Takes } from '../../terminal/command.js'
import type { CompletedCommand, CompletedOption } from './completed-command.js'

export const fishScript = (commands: readonly CompletedCommand[]): string => `# Completion of threatweave for fish.
set -g __threatweave_valued ${valued(commands).join(' ')}
# Whether it is this command, and so many arguments were given before the word: __threatweave_is rules -eq 1
function __threatweave_is -a command comparison places
    set -l words (commandline -opc)
    test "$words[2]" = $command; or return 1
    test -n "$comparison"; or return 0
    set -l count 0
    set -l is_value 0
    for word in $words[3..]
        if test $is_value -eq 1
            set is_value 0
        else if contains -- "$command $word" $__threatweave_valued
            set is_value 1
        else if not string match -q -- '-?*' $word
            set count (math $count + 1)
        end
    end
    test $count $comparison $places
end
function __threatweave_list
    set -l before (string match -r '^.*,' -- (commandline -ct | string replace -r '^--[a-z-]+=' ''))
    for word in $argv
        echo "$before$word"
    end
end
complete -c threatweave -f
${commands.flatMap(linesOf).join('\n')}
`

const valued = (commands: readonly CompletedCommand[]): readonly string[] =>
  commands.flatMap((command) =>
    command.options
      .filter(({ value }) => value !== undefined)
      .flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])])
      .map((option) => quoted(`${command.name} ${option}`)),
  )

const linesOf = ({ name, summary, options, arguments: places }: CompletedCommand): readonly string[] => [
  `complete -c threatweave -n 'test (count (commandline -opc)) -eq 1' -a ${name} -d ${quoted(summary)}`,
  ...options.map((option) => optionLine(name, option)),
  ...places.flatMap((takes, at) => {
    const condition = `${name} ${at === places.length - 1 ? '-ge' : '-eq'} ${at}`
    const offered = argumentOf(takes)
    return offered === '' ? [] : [`complete -c threatweave -n ${quoted(`__threatweave_is ${condition}`)} ${offered}`]
  }),
]

const optionLine = (command: string, { name, short, about, value }: CompletedOption): string =>
  [
    `complete -c threatweave -n '__threatweave_is ${command}' -l ${name}`,
    short === undefined ? '' : `-s ${short}`,
    value === undefined ? '' : `-r ${argumentOf(value) || '-f'}`,
    about === '' ? '' : `-d ${quoted(about)}`,
  ]
    .filter((part) => part !== '')
    .join(' ')

const argumentOf = (takes: Takes): string => {
  if (takes === 'file') return '-F'
  if ('listOf' in takes) return `-f -a '(__threatweave_list ${takes.listOf.join(' ')})'`
  return takes.length === 0 ? '' : `-f -a '${takes.join(' ')}'`
}

const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`
