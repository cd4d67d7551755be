import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, truncateSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'vite'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { known, malicious } from '../../support/lookup.js'

const folder = mkdtempSync(join(tmpdir(), 'under-kill-'))
const program = join(folder, 'asker.mjs')
const running = new Set<ChildProcess>()
let server: Server
/** value → how often it was asked about. */
let asked: Map<string, number>
/** Told of every request before it is answered. */
let onRequest: (total: number) => void
let memoryPath: string
let paths = 0

beforeAll(async () => {
  await build({
    configFile: false,
    logLevel: 'error',
    build: {
      ssr: resolve(import.meta.dirname, '../../support/asker.ts'),
      outDir: folder,
      rollupOptions: { output: { entryFileNames: 'asker.mjs' } },
    },
    ssr: { noExternal: true },
  })
  server = createServer((request, response) => {
    const value = decodeURIComponent(request.url?.slice(1) ?? '')
    asked.set(value, (asked.get(value) ?? 0) + 1)
    onRequest([...asked.values()].reduce((sum, times) => sum + times, 0))
    response.end(JSON.stringify(known(Date.now(), malicious)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
  server.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  asked = new Map()
  onRequest = () => undefined
  memoryPath = join(folder, `memory-${++paths}`)
})

const start = (count: number, ending: 'exit' | 'stay' = 'exit', onLine: (line: string) => void = () => undefined) => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const child = spawn(process.execPath, [program, memoryPath, url, String(count), ending], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  running.add(child)
  createInterface({ input: child.stdout }).on('line', onLine)
  const exit = once(child, 'exit').then(([code, signal]: (number | string | null)[]) => {
    running.delete(child)
    return code ?? signal
  })
  return { exit, kill: () => child.kill('SIGKILL') }
}
const repeated = (): number => [...asked.values()].filter((times) => times > 1).length

describe('what was paid for', () => {
  it('is not asked again by a second process over the same memory path', async () => {
    expect(await start(200).exit).toBe(0)
    expect(await start(250).exit).toBe(0)
    expect([asked.size, repeated()]).toEqual([250, 0])
  })

  it('is not asked again after kill -9, without a single record lost', async () => {
    const first = start(100, 'stay', (line) => line === 'done' && first.kill())
    expect(await first.exit).toBe('SIGKILL')
    expect(asked.size).toBe(100)
    expect(await start(200).exit).toBe(0)
    expect([asked.size, repeated()]).toEqual([200, 0])
  })

  it('is not asked again after kill -9 in the middle of a call, but for that one call', async () => {
    const children = [50, 90, 140].map((stopAt) => ({ stopAt }))
    for (const { stopAt } of children) {
      const child = start(200)
      onRequest = (total) => total === stopAt && child.kill()
      expect(await child.exit).toBe('SIGKILL')
    }
    onRequest = () => undefined
    expect(await start(200).exit).toBe(0)
    expect(asked.size).toBe(200)
    expect(repeated()).toBeLessThanOrEqual(children.length)
    expect(Math.max(...asked.values())).toBeLessThanOrEqual(2)
  })

  it('is read back up to a torn last record', async () => {
    expect(await start(50).exit).toBe(0)
    const [segment] = readdirSync(memoryPath).filter((name) => name.endsWith('.log'))
    const path = join(memoryPath, segment!)
    truncateSync(path, statSync(path).size - 3)
    expect(await start(50).exit).toBe(0)
    expect([asked.size, repeated()]).toEqual([50, 1])
  })

  it('has one owner at a time', async () => {
    const first = start(1, 'stay')
    await new Promise<void>((done) => (onRequest = () => done()))
    expect(await start(1).exit).not.toBe(0)
    first.kill()
    await first.exit
    expect(await start(1).exit).toBe(0)
  })
})
