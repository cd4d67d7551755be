// The version of this program, as its package says.
import { createRequire } from 'node:module'

export const { version } = createRequire(import.meta.url)('../../package.json') as { readonly version: string }
