// A fresh reader's path: the README's commands for one's own topic and key, pasted, with a slow provider; only addresses, names and the key are put in.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Partitioners } from 'kafkajs'
import { expect, inject, it, onTestFinished } from 'vitest'
import type { Annotation } from '../../src/domain/annotation.js'
import { root } from '../support/cli.js'
import { client, makeTopics, readTopic, report, soak, type Read } from '../support/kafka.js'
import { startScriptedService, testKey } from '../support/scripted-service.js'
import { fixture } from '../support/service-fixtures.js'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const block = /On your own topic[^`]*(?:`[^`\n]+`[^`]*)*```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''

/** Each with an address of its own, ten a second; one in ten is malicious. */
const events = soak ? 200 : 40
const latencyMs = 800
const addressOf = (nth: number): string => `198.51.${100 + Math.floor(nth / 250)}.${(nth % 250) + 1}`
const isMalicious = (ip: string): boolean => Number(ip.split('.')[3]) % 10 === 0

const annotationIn = ({ value }: Read): Annotation =>
  (JSON.parse(String(value)) as { threatweave: Annotation }).threatweave
const addressIn = ({ value }: Read): string => /srcip=([\d.]+)/.exec(String(value))?.[1] ?? ''

it('a reader with a topic and a key gets annotated events, corrections and alerts by pasting', async () => {
  const service = await startScriptedService(({ path, query: { ip = '' } }, response) => {
    if (path.includes('user/me')) return fixture('user-me')
    const answer = path.includes('malicious-info')
      ? { status: 200, ip, is_malicious: isMalicious(ip) }
      : { status: 200, ip, score: { inbound: isMalicious(ip) ? 'Critical' : 'Safe', outbound: 'Safe' } }
    setTimeout(() => response.setHeader('content-type', 'application/json').end(JSON.stringify(answer)), latencyMs)
    return undefined
  })
  onTestFinished(service.close)
  const names = await makeTopics({ partitions: 1 })
  const output = `${names.input}-annotated`
  const home = mkdtempSync(join(tmpdir(), 'threatweave-reader-'))
  const put = (text: string): string =>
    text
      .replaceAll('paste-your-key-here', testKey)
      .replaceAll('localhost:9092', inject('broker').plain)
      .replaceAll('firewall-annotated', output)
      .replaceAll('INPUT_TOPICS=firewall', `INPUT_TOPICS=${names.input}`)
      .replace(/produce your\.log firewall$/, `produce your.log ${names.input}`)
  const lines = put(block)
  expect(lines).toContain('check --online --create-topics')
  expect(lines.trimEnd().split('\n').at(-1)).toMatch(/^node dist\/cli\.js run /)
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    // What a test needs and a reader does not: the provider, its addresses of documentation, any free port, and a group of its own.
    THREATWEAVE_INTEL_SERVICE_BASE_URL: service.baseUrl,
    THREATWEAVE_GATE_DOCUMENTATION: 'true',
    THREATWEAVE_OPS_PORT: '0',
    THREATWEAVE_KAFKA_GROUP_ID: names.groupId,
  }
  const before = lines.slice(0, lines.indexOf('node dist/cli.js run'))
  const { stdout: said } = await promisify(execFile)('sh', ['-ec', before], { cwd: root, env })
  expect(said).toContain('The configuration is fine.')
  expect(said).not.toContain(testKey)
  expect(statSync(join(home, '.threatweave-key')).mode & 0o077).toBe(0)

  const run = spawn('sh', ['-ec', lines.replace('node dist/cli.js run', 'exec node dist/cli.js run')], {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  run.stderr.setEncoding('utf8').on('data', (part: string) => (log += part))
  onTestFinished(() => void run.kill('SIGKILL'))
  // A new group starts with the next event.
  await expect.poll(() => log).toContain('group_joined')
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const line = /```\n(date=.*)\n```/.exec(readme)?.[1] ?? ''
  for (let nth = 0; nth < events; nth++) {
    const value = line.replace('srcip=198.51.100.60', `srcip=${addressOf(nth)}`)
    await producer.send({ topic: names.input, messages: [{ value }] })
    await sleep(100)
  }
  await producer.disconnect()
  const produce = put(/`(node dist\/cli\.js produce [^`]+)`/.exec(readme)?.[1] ?? 'false')
  writeFileSync(join(home, 'your.log'), '2026-11-19T10:00:04Z dns1 dnsmasq[88]: query[A] example.net from 10.0.0.7\n')
  const exported = lines.split('\n').filter((text) => text.startsWith('export '))
  const script = [...exported, produce.replace('your.log', join(home, 'your.log'))].join('\n')
  await promisify(execFile)('sh', ['-ec', script], { cwd: root, env })

  const all = await readTopic(output, (read) => read.length > events)
  const records = all.slice(0, events)
  expect(String(all.at(-1)?.value)).toContain('dnsmasq')
  expect(records.map(addressIn), log).toEqual(Array.from({ length: events }, (_, nth) => addressOf(nth)))
  const late = records.filter((record) => annotationIn(record).verdict === 'unknown').map(addressIn)
  expect(late.length).toBeGreaterThan(0)
  const correctedIn = (read: readonly Read[]): Set<string> =>
    new Set(read.filter((record) => annotationIn(record).verdict !== 'unknown').map(addressIn))
  const corrected = correctedIn(
    await readTopic(`${output}-corrections`, (read) => late.every((ip) => correctedIn(read).has(ip)), {
      limitMs: 180_000,
    }),
  )
  expect(late.filter((ip) => !corrected.has(ip))).toEqual([])
  const accused = records.map(addressIn).filter(isMalicious)
  const namedIn = (read: readonly Read[]): string => read.map(({ value }) => String(value)).join('\n')
  const alerts = namedIn(
    await readTopic(`${output}-alerts`, (read) => accused.every((ip) => namedIn(read).includes(`"${ip}"`)), {
      limitMs: 180_000,
    }),
  )
  expect(accused.filter((ip) => !alerts.includes(`"${ip}"`))).toEqual([])
  report('quick start', {
    events,
    late: late.length,
    corrected: late.filter((ip) => corrected.has(ip)).length,
    accused: accused.length,
    alerted: accused.filter((ip) => alerts.includes(`"${ip}"`)).length,
    calls: service.asked.length,
  })

  expect(log).toContain('ops_listening')
  expect(log).not.toContain('topic_missing')
  expect(log).not.toContain(testKey)
  expect(service.asked.every(({ key }) => key === testKey)).toBe(true)
  const exited = once(run, 'exit')
  run.kill('SIGINT')
  expect((await exited)[0]).toBe(0)
  expect(existsSync(join(root, '.threatweave-key'))).toBe(false)
})
