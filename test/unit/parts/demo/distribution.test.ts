// Which Kafka is found, with a Docker of our own.
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { provision } from '../../../../src/parts/demo/distribution.js'

const path = process.env.PATH
afterEach(() => void (process.env.PATH = path))

/** Puts a `docker` in front of the path that has no image, notes how it is called, and pulls with this exit code. */
const withDocker = (code: number): { readonly calls: () => string } => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-docker-'))
  const script = `#!/bin/sh
echo "$*" >> ${folder}/calls
case "$1" in version) exit 0 ;; image) exit 1 ;; pull) echo "no such host" >&2; exit ${code} ;; esac
`
  writeFileSync(join(folder, 'docker'), script)
  chmodSync(join(folder, 'docker'), 0o755)
  process.env.PATH = `${folder}${delimiter}${path}`
  return { calls: () => readFileSync(join(folder, 'calls'), 'utf8') }
}

describe('Kafka from Docker', () => {
  it('is pulled with a line that moves, not by a silent start', async () => {
    const { calls } = withDocker(0)
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 100 })
    const found = await provision({ env: { KAFKA_VERSION: '4.0.0' }, stderr })
    expect(found).toEqual({ how: 'docker', image: 'apache/kafka:4.0.0' })
    expect(calls()).toMatch(/^pull --quiet apache\/kafka:4\.0\.0$/m)
    expect(String(stderr.read())).toMatch(
      /^(?:\r\u001b\[2Kfetching apache\/kafka:4\.0\.0 with Docker, once \d+ s)+\r\u001b\[2K$/,
    )
  })

  it('is missing where it cannot be pulled, with the reason', async () => {
    withDocker(1)
    expect(await provision({ env: {} })).toEqual({
      how: 'missing',
      missing: 'Docker could not fetch apache/kafka:4.3.1: no such host',
    })
  })
})
