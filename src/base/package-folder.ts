// The folder of this package. What comes with the program is in it: formats, lists, rules, sources and examples.
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

export const packageFolder = dirname(createRequire(import.meta.url).resolve('threatweave/package.json'))
