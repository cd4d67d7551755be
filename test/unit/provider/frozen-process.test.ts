// A process that is stopped for longer than a call may take reads the answer that came meanwhile.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'

const asker = `
import { Client } from 'undici'
import { exchange } from './src/provider/exchange.ts'
const dispatcher = new Client(process.argv.at(-1))
const settings = { connectTimeoutMs: 500, headersTimeoutMs: 1_500, bodyTimeoutMs: 1_000, maxAnswerBytes: 1_000 }
const request = { path: '/', method: 'GET', headers: {}, body: null }
const { status } = await exchange(request, { dispatcher, settings, now: Date.now })
console.log(status)
process.exit()`

it('a process that was stopped does not take that for a time-out of the provider', async () => {
  let stop: () => void = () => undefined
  const server = createServer((_, answer) => {
    stop()
    setTimeout(() => answer.end('{"status":200}'), 300)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const loader = ['--import', './test/simulation/typescript.mjs', '--input-type=module', '-e', asker, url]
  const child = spawn(process.execPath, loader, { stdio: ['ignore', 'pipe', 'inherit'] })
  stop = () => void child.kill('SIGSTOP')
  void once(server, 'request').then(async () => {
    await sleep(3_000)
    child.kill('SIGCONT')
  })
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  expect(String(said).trim()).toBe('answered')
  server.close()
})
