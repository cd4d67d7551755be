// How the program was started, for commands that are to be pasted: a clone has no `threatweave` among the programs.
import { basename } from 'node:path'
import { fromHere } from './from-here.js'
import { shellWord } from './shell-word.js'

/** `script` is what Node runs: a file of a clone, or the link that an installation made. */
export const startedAs = (script = process.argv[1] ?? ''): string =>
  basename(script) === 'cli.js' ? `node ${shellWord(fromHere(script))}` : 'threatweave'
