// Adds the base image's digest to its tag in every stage of the Dockerfile, so that a release uses exactly that image.
// usage: node scripts/pin-base.mjs    (needs Docker and its registry)
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './tools.mjs'

const file = resolve(import.meta.dirname, '../Dockerfile')

/** Returns the Dockerfile with this digest after the base image, replacing an existing one. */
export const pinned = (text, digest) => {
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`this is not the digest of an image: ${digest}`)
  return text.replace(/^(FROM node:[^\s@]+)(?:@sha256:[0-9a-f]+)?/gm, `$1@${digest}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = readFileSync(file, 'utf8')
  const base = /^FROM (node:[^\s@]+)/m.exec(text)[1]
  const { ok, stdout, output } = run('docker', [
    'buildx',
    'imagetools',
    'inspect',
    base,
    '--format',
    '{{.Manifest.Digest}}',
  ])
  if (ok) {
    writeFileSync(file, pinned(text, stdout.trim()))
    console.log(`${base}@${stdout.trim()}`)
  } else {
    console.error(`pin-base: the digest of ${base} cannot be had: ${output.trim()}`)
    process.exitCode = 1
  }
}
