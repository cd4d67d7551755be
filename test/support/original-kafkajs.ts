// Modules of kafkajs as it ships them, also where they have been replaced by ours in this process.
import { createRequire } from 'node:module'
// First: what an original module loads must not be in place before ours are.
import '../../src/kafka/patched-kafkajs/patched-kafkajs.js'

const load = createRequire(import.meta.url)

export const original = (path: string): unknown => {
  const name = load.resolve(`kafkajs/src/${path}`)
  const inUse = Object.getOwnPropertyDescriptor(load.cache, name)
  Reflect.deleteProperty(load.cache, name)
  const loaded: unknown = load(name)
  if (inUse) Object.defineProperty(load.cache, name, inUse)
  return loaded
}
