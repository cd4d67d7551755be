// The command that started the program, for examples to paste: a clone has no `threatweave` on the PATH.
import { basename } from 'node:path'
import { fromHere } from './from-here.js'
import { shellWord } from './shell-word.js'

/** `script` is the file that Node runs: in a clone, or the link of an installation. */
export const startedAs = (script = process.argv[1] ?? ''): string =>
  basename(script) === 'cli.js' ? `node ${shellWord(fromHere(script))}` : 'threatweave'
