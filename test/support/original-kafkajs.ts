// The original modules of kafkajs, even where this process replaces them.
import { createRequire } from 'node:module'
// Imported first: an original module must not load others before they are replaced.
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
