// The options and arguments of a command for shell completion, from its row of the command table.
import type { Command, Commands, Takes } from '../../terminal/command.js'

export type CompletedOption = {
  readonly name: string
  readonly short: string | undefined
  /** The description in the help text of the command; may be empty. */
  readonly about: string
  /** Absent: the option has no value. */
  readonly value?: Takes
}

export type CompletedCommand = {
  readonly name: string
  readonly summary: string
  readonly options: readonly CompletedOption[]
  /** In order; the last entry applies to all further arguments. */
  readonly arguments: readonly Takes[]
}

const nothing: Takes = []

export const completedCommands = async (commands: Commands): Promise<readonly CompletedCommand[]> => {
  const names = Object.keys(commands)
  const completed = await Promise.all(
    Object.entries(commands).map(async ([name, load]) => completedCommand(name, await load())),
  )
  return [
    ...completed,
    { name: 'help', summary: 'explain a command', options: [], arguments: [names, nothing] },
    { name: 'version', summary: 'print the version', options: [], arguments: [nothing] },
  ]
}

const completedCommand = (name: string, { summary, help, options, takesArguments }: Command): CompletedCommand => ({
  name,
  summary,
  options: [
    ...Object.entries(options).map(([option, { type, short, takes }]) => ({
      name: option,
      short,
      about: aboutIn(help, option),
      ...(type === 'string' && { value: takes ?? nothing }),
    })),
    { name: 'help', short: 'h', about: 'explain this command' },
  ],
  arguments: takesArguments ?? [nothing],
})

/** The text after an option in the help: `      --json          print JSON`. */
const aboutIn = (help: string, option: string): string =>
  new RegExp(`^ +(?:-\\w, )?--${option}(?: (?:[A-Z]\\S*|\\S+(?=  )))? +(\\S.*)$`, 'm').exec(help)?.[1] ?? ''
