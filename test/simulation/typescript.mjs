// Lets Node run the TypeScript of src/ and test/ as it is: `node --import ./test/simulation/typescript.mjs file.ts`.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { register } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { transform } from 'esbuild'

if (isMainThread) register(import.meta.url)

/** Imports name the file that the compiler would write. */
export const resolve = (specifier, context, next) => {
  if (/^\.\.?\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts')) {
    const url = new URL(`${specifier.slice(0, -3)}.ts`, context.parentURL)
    if (existsSync(fileURLToPath(url))) return { url: url.href, format: 'module', shortCircuit: true }
  }
  return next(specifier, context)
}

export const load = async (url, context, next) => {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context)
  const text = await readFile(fileURLToPath(url), 'utf8')
  const { code } = await transform(text, { loader: 'ts', format: 'esm', target: 'node20', sourcemap: 'inline', sourcefile: fileURLToPath(url) }) // prettier-ignore
  return { format: 'module', source: code, shortCircuit: true }
}
