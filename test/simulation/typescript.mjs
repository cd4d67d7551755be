// Lets Node run the TypeScript of src/ and test/ directly: `node --import ./test/simulation/typescript.mjs file.ts`.
// Can replace source files in memory to insert mistakes (`SIMULATION_MISTAKE`, JSON: file → its new content).
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { register } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { transform } from 'esbuild'

if (isMainThread) register(import.meta.url)

/** Imports name the compiler's output files. */
export const resolve = (specifier, context, next) => {
  if (/^\.\.?\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts')) {
    const url = new URL(`${specifier.slice(0, -3)}.ts`, context.parentURL)
    if (existsSync(fileURLToPath(url))) return { url: url.href, format: 'module', shortCircuit: true }
  }
  return next(specifier, context)
}

const mistakes = Object.entries(JSON.parse(process.env.SIMULATION_MISTAKE ?? '{}'))

export const load = async (url, context, next) => {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context)
  const file = fileURLToPath(url)
  const [, changed] = mistakes.find(([name]) => file.endsWith(`/${name}`)) ?? []
  const text = changed ?? (await readFile(file, 'utf8'))
  const { code } = await transform(text, { loader: 'ts', format: 'esm', target: 'node20', sourcemap: 'inline', sourcefile: file }) // prettier-ignore
  return { format: 'module', source: code, shortCircuit: true }
}
