// Replaces modules inside kafkajs, and reports a replacement that would not take effect.
import { createRequire } from 'node:module'

export type Part = {
  /** The replaced module, relative to the source folder of kafkajs. */
  readonly path: string
  /** The modules that must load the replacement. */
  readonly usedBy: readonly string[]
  readonly replacement: (original: unknown) => unknown
}

const load = createRequire(import.meta.url)

/** Returns undefined if every replacement took effect; otherwise the problem and its fix. `root` is the folder of kafkajs. */
export const replaceParts = (root: string, patchedVersion: string, parts: readonly Part[]): string | undefined => {
  const { version } = load(`${root}/package.json`) as { readonly version: string }
  if (version !== patchedVersion)
    return `kafkajs ${version} is installed, and the parts that are replaced are those of ${patchedVersion}: install that version with \`npm ci\``
  const folder = `${root}/src`
  const taken = parts.map(() => 0)
  for (const [index, { path, usedBy, replacement }] of parts.entries()) {
    const loaded = usedBy.find((user) => isLoaded(`${folder}/${user}`))
    if (loaded !== undefined)
      return `kafkajs was loaded before its ${path} could be replaced: import threatweave before anything that imports kafkajs`
    const ours = replaceExports(`${folder}/${path}`, replacement, () => {
      taken[index] = (taken[index] ?? 0) + 1
    })
    if (!ours) return notFound(path)
  }
  for (const { usedBy } of parts)
    for (const user of usedBy) {
      try {
        load(`${folder}/${user}`)
      } catch {
        return notFound(user)
      }
    }
  const unused = parts.find(({ usedBy }, index) => (taken[index] ?? 0) < usedBy.length)
  return unused && `kafkajs does not use the replacement of ${unused.path}: ${reinstall}`
}

const reinstall = 'reinstall the dependencies with `npm ci`, and report it if that does not help'
const notFound = (path: string): string => `kafkajs has no module ${path}: ${reinstall}`

const isLoaded = (file: string): boolean => Object.hasOwn(load.cache, file)

/** False if there is no such module. `use` is called for every module that loads the replacement. */
const replaceExports = (file: string, replacement: (original: unknown) => unknown, use: () => void): boolean => {
  let original: unknown
  try {
    original = load(file)
  } catch {
    return false
  }
  const entry = load.cache[file]
  if (!entry) return false
  const ours = replacement(original)
  Object.defineProperty(entry, 'exports', {
    configurable: true,
    enumerable: true,
    get: () => {
      use()
      return ours
    },
  })
  return true
}
