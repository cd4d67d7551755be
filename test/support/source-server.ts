// A source as described in its file, on a local server that the test controls.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './cli.js'
import { newFolder } from './lookup-service.js'

export const sourceKey = 'The-key-at-the-source-0123456789'

/** A copy of a bundled source or the template that calls this server, with a key file. */
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
