// Starts the one broker that all integration tests share, and builds what their workers run.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'
import type { TestProject } from 'vitest/node'
import { startBroker, type Broker } from '../../src/demo/broker.js'

export type SharedBroker = Pick<Broker, 'how' | 'plain' | 'secure' | 'classPath'>

declare module 'vitest' {
  export interface ProvidedContext {
    broker: SharedBroker
  }
}

export default async (project: TestProject): Promise<() => Promise<void>> => {
  compile(resolve(import.meta.dirname, '../..'))
  const broker = await startBroker({
    env: process.env,
    secure: true,
    say: (line) => process.stderr.write(`${line}\n`),
  })
  // Never a skip: a green run without these tests would be a lie.
  if ('missing' in broker) throw new Error(broker.missing)
  const { how, plain, secure, classPath } = broker
  project.provide('broker', {
    how,
    plain,
    ...(secure ? { secure } : {}),
    ...(classPath === undefined ? {} : { classPath }),
  })
  return broker.stop
}

/** Types are checked elsewhere; the workers only need today's sources as JavaScript. */
const compile = (root: string): void => {
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
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, outputText)
  }
}
