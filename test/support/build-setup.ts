// Builds dist/ for tests that run the program, without type checking. What is there already is left alone and what is new is put in place at once:
// another run of tests may be using it.
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'

const root = resolve(import.meta.dirname, '../..')

export default (): void => {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => readFileSync(path, 'utf8')) as {
    config: object
  }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  for (const file of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue
    const { outputText } = ts.transpileModule(readFileSync(join(root, 'src', file), 'utf8'), {
      compilerOptions: { ...options, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
      fileName: join(root, 'src', file),
    })
    const target = join(root, 'dist', file.replace(/\.ts$/, '.js'))
    if (existsSync(target) && readFileSync(target, 'utf8') === outputText) continue
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(`${target}.${process.pid}`, outputText)
    renameSync(`${target}.${process.pid}`, target)
  }
}
