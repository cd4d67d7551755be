// What the first fetch of Kafka shows, with a Maven of our own that waits in the middle.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { fetchJars } from '../../../../src/parts/demo/fetch-jars.js'

const path = process.env.PATH
afterEach(() => void (process.env.PATH = path))

/** Puts a `java` and an `mvn` in front of the path; the latter reports two files and ends when `mayEnd` is called. */
const withMaven = (): { readonly home: string; readonly mayEnd: () => void } => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-maven-'))
  const put = (name: string, text: string): void => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}`)
    chmodSync(join(folder, name), 0o755)
  }
  put('java', 'exit 0\n')
  put(
    'mvn',
    `[ "$1" = -version ] && exit 0
echo "[INFO] Downloaded from central: https://repo.example.com/one-1.jar (1.5 MB at 12 MB/s)"
echo "[INFO] Downloaded from central: https://repo.example.com/two-2.jar (2.0 MB at 12 MB/s)"
while [ ! -e ${folder}/end ]; do sleep 0.05; done
echo > one-1.jar
`,
  )
  process.env.PATH = `${folder}${delimiter}${path}`
  return { home: join(folder, 'home'), mayEnd: () => writeFileSync(join(folder, 'end'), '') }
}

const jars = { name: 'Sample 1', artifacts: ['org.example:one:1'], megabytes: 4 }

describe('fetching jars', () => {
  it('shows one line that moves on a terminal, and clears it', async () => {
    const { home, mayEnd } = withMaven()
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 100 })
    let shown = ''
    stderr.on('data', (data: Buffer) => {
      shown += data.toString()
      if (shown.includes('2 files, 3.5 MB')) mayEnd()
    })
    const found = await fetchJars(jars, home, stderr)
    expect(found).toEqual({ classPath: join(home, 'lib', 'one-1.jar') })
    const [first, ...moving] = shown.split('\n')
    expect(first).toBe(`Fetching Sample 1 with Maven, once: about 4 MB, and 10 more if Maven is new here, into ${home}`)
    expect(moving).toHaveLength(1)
    expect(moving[0]).toMatch(/^(?:\r\u001b\[2Kfetching Sample 1 \d files, \d\.\d MB, \d+ s)+\r\u001b\[2K$/)
  })

  it('shows nothing without a stream, and nothing when they are there', async () => {
    const { home, mayEnd } = withMaven()
    mayEnd()
    expect(await fetchJars(jars, home)).toHaveProperty('classPath')
    expect(existsSync(join(home, 'lib', 'complete'))).toBe(true)
    const stderr = new PassThrough()
    expect(await fetchJars(jars, home, stderr)).toHaveProperty('classPath')
    expect(stderr.read()).toBe(null)
  })

  it('leaves what another process has fetched meanwhile, which may already run', async () => {
    const { home, mayEnd } = withMaven()
    const second = fetchJars(jars, home)
    while (!existsSync(home) || readdirSync(home).length === 0) await setTimeout(10)
    mkdirSync(join(home, 'lib'))
    for (const name of ['complete', 'first.jar']) writeFileSync(join(home, 'lib', name), '')
    mayEnd()
    expect(await second).toEqual({ classPath: join(home, 'lib', 'first.jar') })
    expect(readdirSync(home)).toEqual(['lib'])
  })

  it('replaces what is incomplete', async () => {
    const { home, mayEnd } = withMaven()
    mkdirSync(join(home, 'lib'), { recursive: true })
    writeFileSync(join(home, 'lib', 'half.jar'), '')
    mayEnd()
    expect(await fetchJars(jars, home)).toEqual({ classPath: join(home, 'lib', 'one-1.jar') })
  })
})
