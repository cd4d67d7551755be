// Bundles the modules of the program and its packages into a few files, because loading hundreds of modules dominates a start.
// A start of `run --workers 2` loads them three times. The library, tests and benchmarks use the modules that `tsc` writes.
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = resolve(import.meta.dirname, '..')
const shared = 'program'
const sharedFolder = join(root, 'dist', shared)
const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The files that Node loads: the program, its two threads, and the limits, which tests replace. */
const entryPoints = {
  cli: 'src/cli.ts',
  'feeds/worker': 'src/feeds/worker.ts',
  'feeds/page-worker': 'src/feeds/page-worker.ts',
  [`${shared}/limits`]: 'src/app/limits.ts',
}

/** Files in dist/ that this script writes instead of `tsc`. */
export const bundled = Object.keys(entryPoints).map((name) => join(root, 'dist', `${name}.js`))

/** Replacements for packages that would be loaded although the program uses little or nothing of them. */
const replaced = {
  // Leaves out fetch, web sockets, caches and mocks of undici.
  undici: `
    const Dispatcher = require('undici/lib/dispatcher/dispatcher.js')
    Object.assign(Dispatcher.prototype, require('undici/lib/api/index.js'))
    exports.Client = require('undici/lib/dispatcher/client.js')
    exports.Pool = require('undici/lib/dispatcher/pool.js')`,
  // The program's servers and clients do not use HTTP/2.
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

/** Replaces each file atomically, importing files last, because the program may be running. Returns the written files. */
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
    // kafkajs stays a package too: it is loaded by its path, because parts of it are replaced.
    external: Object.keys(optionalDependencies),
    plugins: [leaveOutUnused],
    // Most packages are CommonJS and load Node's modules with `require`.
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

/** The licences of the bundled packages, which require that their terms are distributed with them. */
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
