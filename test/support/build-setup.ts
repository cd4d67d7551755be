// Builds what is older in dist/ than its source, for tests that run the program, without type checking. What is new is put in place at once:
// another run of tests may be using it.
import { mkdirSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const settingsPath = join(root, 'tsconfig.json')

/** When a file was written; never, if there is none. */
const writtenAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity

export default async (): Promise<void> => {
  const stale = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ source: join(root, 'src', file), target: join(root, 'dist', file.replace(/\.ts$/, '.js')) }))
    .filter(({ source, target }) => writtenAt(target) < Math.max(writtenAt(source), writtenAt(settingsPath)))
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
