// Puts the hundreds of modules of the program and of its packages into a few files per command: to find and load them is most of what a start
// takes, and three processes of `run --workers 2` do it. The library, tests and benchmarks use the modules that `tsc` writes.
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = resolve(import.meta.dirname, '..')
const shared = 'program'
const sharedFolder = join(root, 'dist', shared)
const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** What Node is told to load: the program, the two threads that it starts, and the bounds, of which tests give a program others. */
const entryPoints = {
  cli: 'src/cli.ts',
  'feeds/worker': 'src/feeds/worker.ts',
  'feeds/page-worker': 'src/feeds/page-worker.ts',
  [`${shared}/limits`]: 'src/app/limits.ts',
}

/** What of dist/ is written here and not by `tsc`. */
export const bundled = Object.keys(entryPoints).map((name) => join(root, 'dist', `${name}.js`))

/** Parts of packages that the program never uses, and that would be loaded all the same. */
const replaced = {
  // Of undici no fetch, web sockets, caches and mocks.
  undici: `
    const Dispatcher = require('undici/lib/dispatcher/dispatcher.js')
    Object.assign(Dispatcher.prototype, require('undici/lib/api/index.js'))
    exports.Client = require('undici/lib/dispatcher/client.js')
    exports.Pool = require('undici/lib/dispatcher/pool.js')`,
  // Neither its servers nor its clients speak HTTP/2.
  'node:http2': 'exports.constants = {}',
}

const leaveOutUnused = {
  name: 'leave out unused',
  setup: ({ onResolve, onLoad }) => {
    const filter = new RegExp(`^(?:${Object.keys(replaced).join('|')})$`)
    onResolve({ filter }, ({ path }) => ({ path, namespace: 'replaced' }))
    onLoad({ filter, namespace: 'replaced' }, ({ path }) => ({ contents: replaced[path], resolveDir: root }))
  },
}

/** Every file is put in place at once, and those that load others last: the program may be in use. Returns what was written. */
export const bundle = async () => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: 'dist',
    chunkNames: `${shared}/[name]-[hash]`,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    // kafkajs stays a package as well: it is loaded by its path, because parts of it are replaced then.
    external: Object.keys(optionalDependencies),
    plugins: [leaveOutUnused],
    // Most packages are CommonJS, and ask for Node's own modules that way.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    write: false,
    metafile: true,
  })
  const licenses = { path: join(sharedFolder, 'licenses.txt'), contents: licensesOf(Object.keys(metafile.inputs)) }
  for (const { path, contents } of [licenses, ...outputFiles].toSorted(
    (a, b) => bundled.indexOf(a.path) - bundled.indexOf(b.path),
  )) {
    const fresh = `${path}.${process.pid}`
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(fresh, contents)
    renameSync(fresh, path)
  }
  chmodSync(join(root, 'dist/cli.js'), 0o755)
  return [licenses, ...outputFiles].map(({ path }) => path)
}

/** What the packages that are inside ask for: that their terms come with them. */
const licensesOf = (files) => {
  const packages = new Set(files.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []))
  return [...packages]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
      const texts = readdirSync(join(root, folder)).filter((file) => /^(?:licen[cs]e|notice)/i.test(file))
      return [`${name} ${version}: ${license}`, ...texts.map((file) => readFileSync(join(root, folder, file), 'utf8'))]
    })
    .map((lines) => lines.join('\n\n'))
    .join(`\n\n${'-'.repeat(80)}\n\n`)
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const written = new Set((await bundle()).map((path) => basename(path)))
  for (const name of readdirSync(sharedFolder)) if (!written.has(name)) rmSync(join(sharedFolder, name))
}
