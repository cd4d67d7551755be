// Example answers of the lookup service, one for each of its operations.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const folder = resolve(import.meta.dirname, '../fixtures/service')

export const fixture = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(resolve(folder, `${name}.json`), 'utf8')) as Record<string, unknown>
