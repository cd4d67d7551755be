// A source as its file describes it, on a server of this machine that the test decides about.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './cli.js'
import { newFolder } from './lookup-service.js'

export const sourceKey = 'The-key-at-the-source-0123456789'

/** A copy of a bundled source, or of the template, that asks this server; with a file that holds a key. */
export const sourceAt = (
  url: string,
  file: string,
  change: (text: string) => string = (text) => text,
): { readonly file: string; readonly apiKeyFile: string } => {
  const folder = newFolder()
  const text = readFileSync(join(root, file), 'utf8')
  const path = join(folder, 'source.yaml')
  writeFileSync(path, change(text.replaceAll(/https:\/\/[^/]+(?=\/[^\n]*\{value\})/g, url)))
  const apiKeyFile = join(folder, 'key')
  writeFileSync(apiKeyFile, `${sourceKey}\n`, { mode: 0o600 })
  return { file: path, apiKeyFile }
}
