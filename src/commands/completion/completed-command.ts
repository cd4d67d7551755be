// What shells complete of one command: its options and arguments, as its row of the command table says.
import type { Command, Commands, Takes } from '../../terminal/command.js'

export type CompletedOption = {
  readonly name: string
  readonly short: string | undefined
  /** From the help of the command; empty where it says nothing on that line. */
  readonly about: string
  /** Absent: the option has no value. */
  readonly value?: Takes
}

export type CompletedCommand = {
  readonly name: string
  readonly summary: string
  readonly options: readonly CompletedOption[]
  /** By place; the last entry is for all that follow. */
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

/** `      --json          print JSON`: what stands behind the option on its line. */
const aboutIn = (help: string, option: string): string =>
  new RegExp(`^ +(?:-\\w, )?--${option}(?: (?:[A-Z]\\S*|\\S+(?=  )))? +(\\S.*)$`, 'm').exec(help)?.[1] ?? ''
