// The `completion` command: prints a script that completes commands, options and values in a shell.
import { exitCodes, UsageError, type Command, type Commands } from '../../terminal/command.js'
import { write } from '../../terminal/write-lines.js'
import { bashScript } from './bash-script.js'
import { completedCommands } from './completed-command.js'
import { fishScript } from './fish-script.js'
import { zshScript } from './zsh-script.js'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }
const shells = Object.keys(scripts)
const isShell = (name: string | undefined): name is keyof typeof scripts =>
  name !== undefined && Object.hasOwn(scripts, name)

/** Takes all commands, including this one. */
export const completionOf = (commands: Commands): Command => ({
  summary: 'print a script that completes commands, options and values in bash, zsh or fish',
  help: `Usage: threatweave completion bash|zsh|fish

Prints a script for the shell: the Tab key then completes commands, options, values such as verdicts, and files.

For this session:
  source <(threatweave completion bash)
  source <(threatweave completion zsh)
  threatweave completion fish | source

For every session, once (and again after an upgrade):
  threatweave completion bash > ~/.local/share/bash-completion/completions/threatweave
  threatweave completion zsh > ~/.zfunc/_threatweave     # with fpath+=~/.zfunc before compinit in ~/.zshrc
  threatweave completion fish > ~/.config/fish/completions/threatweave.fish

Bash needs the package bash-completion for the file; zsh needs compinit.
`,
  options: {},
  takesArguments: [shells, []],
  run: async ({ positionals: [shell, ...more] }, io) => {
    if (!isShell(shell) || more.length > 0)
      throw new UsageError(`completion takes the name of one shell: ${shells.join(', ')}`)
    await write(io.stdout, scripts[shell](await completedCommands(commands)))
    return exitCodes.ok
  },
})
