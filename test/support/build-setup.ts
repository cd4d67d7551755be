// Rebuilds outdated files in dist/ without type checking, for tests that run the program.
// New files are put in place at once, because another test run may be using them.
import { mkdirSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { bundle, bundled } from '../../scripts/bundle.mjs'

const root = resolve(import.meta.dirname, '../..')
const settingsPath = join(root, 'tsconfig.json')
const bundlerPath = join(root, 'scripts/bundle.mjs')

/** The modification time of a file; -Infinity if it does not exist. */
const writtenAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity

export default async (): Promise<void> => {
  const modules = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ source: join(root, 'src', file), target: join(root, 'dist', file.replace(/\.ts$/, '.js')) }))
  await transpile(modules.filter(({ target }) => !bundled.includes(target)))
  const sources = [...modules.map(({ source }) => source), settingsPath, bundlerPath]
  if (Math.min(...bundled.map(writtenAt)) < Math.max(...sources.map(writtenAt))) await bundle()
}

type Module = { readonly source: string; readonly target: string }

const transpile = async (modules: readonly Module[]): Promise<void> => {
  const stale = modules.filter(
    ({ source, target }) => writtenAt(target) < Math.max(writtenAt(source), writtenAt(settingsPath)),
  )
  if (stale.length === 0) return
  const { default: ts } = await import('typescript') // it takes a second
  const { config } = ts.readConfigFile(settingsPath, (path) => readFileSync(path, 'utf8')) as { config: object }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  for (const { source, target } of stale) {
    const { outputText } = ts.transpileModule(readFileSync(source, 'utf8'), {
      compilerOptions: { ...options, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
      fileName: source,
    })
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(`${target}.${process.pid}`, outputText)
    renameSync(`${target}.${process.pid}`, target)
  }
}
