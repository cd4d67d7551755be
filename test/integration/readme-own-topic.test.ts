// A fresh reader's path: the README's commands for one's own topic and key, pasted; only addresses, names and the key are put in.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Partitioners } from 'kafkajs'
import { expect, inject, it, onTestFinished } from 'vitest'
import type { Annotation } from '../../src/domain/annotation.js'
import { root } from '../support/cli.js'
import { client, makeTopics, readTopic } from '../support/kafka.js'
import { startScriptedService, testKey } from '../support/scripted-service.js'
import { fixture } from '../support/service-fixtures.js'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const block = /On your own topic[^`]*(?:`[^`\n]+`[^`]*)*```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''

it('a reader with a topic and a key gets annotated events by pasting', { timeout: 900_000 }, async () => {
  const service = await startScriptedService(({ path, query }) =>
    path.includes('user/me')
      ? fixture('user-me')
      : { ip: query.ip, is_malicious: query.ip === '198.51.100.60', status: 200 },
  )
  onTestFinished(service.close)
  const names = await makeTopics({ partitions: 1 })
  const home = mkdtempSync(join(tmpdir(), 'threatweave-reader-'))
  const put = (text: string): string =>
    text
      .replaceAll('paste-your-key-here', testKey)
      .replaceAll('localhost:9092', inject('broker').plain)
      .replaceAll('firewall-annotated', `${names.input}-annotated`)
      .replaceAll('INPUT_TOPICS=firewall', `INPUT_TOPICS=${names.input}`)
  const lines = put(block)
  expect(lines).toContain('check --online --create-topics')
  expect(lines.trimEnd().split('\n').at(-1)).toMatch(/^node dist\/cli\.js run /)
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    // What a test needs and a reader does not: the provider and its documentation addresses, any free port, and time on a busy machine.
    THREATWEAVE_ENRICH_DEADLINE_MS: '60000',
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
  await producer.send({ topic: names.input, messages: [{ value: line }, { value: line }] })
  await producer.disconnect()
  const records = await readTopic(`${names.input}-annotated`, (read) => read.length >= 2)
  expect(records.length, log).toBe(2)
  const { message, threatweave } = JSON.parse(records[1]!.value!.toString()) as {
    message: string
    threatweave: Annotation
  }
  expect(message).toBe(line)
  expect(threatweave).toMatchObject({ value: '198.51.100.60', field: 'srcip' })
  expect(log).toContain('ops_listening')
  expect(log).not.toContain(testKey)
  expect(service.asked.every(({ key }) => key === testKey)).toBe(true)
  const exited = once(run, 'exit')
  run.kill('SIGINT')
  expect((await exited)[0]).toBe(0)
  expect(existsSync(join(root, '.threatweave-key'))).toBe(false)
})
