// Puts the hundreds of modules of the program into a few files per command: to find and load them is half the time that a short command takes.
// The packages that it needs stay packages, and the library, tests and benchmarks use the modules that `tsc` writes.
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = resolve(import.meta.dirname, '..')
const shared = 'program'
const sharedFolder = join(root, 'dist', shared)

/** What Node is told to load: the program, the two threads that it starts, and the bounds, of which tests give a program others. */
const entryPoints = {
  cli: 'src/cli.ts',
  'feeds/worker': 'src/feeds/worker.ts',
  'feeds/page-worker': 'src/feeds/page-worker.ts',
  [`${shared}/limits`]: 'src/app/limits.ts',
}

/** What of dist/ is written here and not by `tsc`. */
export const bundled = Object.keys(entryPoints).map((name) => join(root, 'dist', `${name}.js`))

/** Every file is put in place at once, and those that load others last: the program may be in use. Returns what was written. */
export const bundle = async () => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: 'dist',
    chunkNames: `${shared}/[name]-[hash]`,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    write: false,
  })
  for (const { path, contents } of outputFiles.toSorted((a, b) => bundled.indexOf(a.path) - bundled.indexOf(b.path))) {
    const fresh = `${path}.${process.pid}`
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(fresh, contents)
    renameSync(fresh, path)
  }
  chmodSync(join(root, 'dist/cli.js'), 0o755)
  return outputFiles.map(({ path }) => path)
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const written = new Set((await bundle()).map((path) => basename(path)))
  for (const name of readdirSync(sharedFolder)) if (!written.has(name)) rmSync(join(sharedFolder, name))
}
