// The recipe of docs/first-alert.md, pasted step by step into one shell: syslog → rsyslog → Kafka → `run` → `notify` → an alert in a chat and in OpenSearch.
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Alert } from '../../src/alerts/alert.js'
import { freePorts, startBroker, type Broker } from '../../src/parts/demo/broker.js'
import { root } from '../support/cli.js'
import { client, readTopic } from '../support/kafka.js'
import { startSearchNode, type SearchNode } from '../support/opensearch.js'
import { alertOf, idOf } from '../support/sinks.js'
import { findTool } from '../support/tools.js'

const page = readFileSync(join(root, 'docs/first-alert.md'), 'utf8')
const steps = [...page.slice(page.indexOf('## Steps')).matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(
  (match) => match[1]!,
)
const stepWith = (text: string): string => steps.find((step) => step.includes(text)) ?? ''
const shown = /"message": "([^"]+)"/.exec(page)?.[1]

const rsyslogd = findTool('rsyslogd')

type Shell = {
  /** What the commands print; rejects when one of them fails. */
  readonly paste: (commands: string) => Promise<string>
  readonly end: () => void
}

const openShell = (env: Readonly<Record<string, string | undefined>>): Shell => {
  // A group of its own, so that what it starts ends with it when a step fails.
  const child = spawn('bash', ['-e'], { cwd: root, env, stdio: 'pipe', detached: true })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (said += part))
  let isOver = false
  child.once('close', () => (isOver = true))
  return {
    paste: async (commands) => {
      said = ''
      child.stdin.write(`${commands}\necho "--- done ---"\n`)
      while (!said.includes('--- done ---')) {
        if (isOver) throw new Error(`a command failed in:\n${commands}\n${said}`)
        await sleep(50)
      }
      return said.replace('--- done ---\n', '')
    },
    end: () => {
      if (!isOver) process.kill(-child.pid!, 'SIGKILL')
    },
  }
}

type Front = {
  readonly url: string
  isAway: boolean
  /** How many requests found it away. */
  refused: number
  readonly close: () => void
}

/** In front of OpenSearch, which can be away without being started again. */
const startFront = async (target: string): Promise<Front> => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (front.isAway) {
        front.refused++
        response.writeHead(503).end()
        return
      }
      const { method = 'GET', url = '/', headers } = request
      const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}
      fetch(target + url, {
        method,
        headers: { 'content-type': headers['content-type'] ?? 'application/json' },
        ...body,
      })
        .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
        .catch((error: unknown) => response.writeHead(502).end(String(error)))
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  const front: Front = { url: `http://127.0.0.1:${port}`, isAway: false, refused: 0, close }
  return front
}

const until = async (what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  const limit = Date.now() + 150_000
  while (!(await isTrue())) {
    if (Date.now() > limit) throw new Error(`${what}: not in 150 s\n${logs()}`)
    await sleep(200)
  }
}

let work = ''
const logs = (): string =>
  work === '' || !existsSync(work)
    ? ''
    : readdirSync(work)
        .filter((name) => name.endsWith('.log'))
        .map((name) => `${name}:\n${readFileSync(join(work, name), 'utf8').slice(-2_000)}`)
        .join('\n')

describe.skipIf('missing' in rsyslogd)('docs/first-alert.md', () => {
  let node: SearchNode
  let broker: Broker
  let front: Front
  let shell: Shell
  let port = 0
  let chatPort = 0
  const opened: (() => void | Promise<void>)[] = []

  beforeAll(async () => {
    const started = await startBroker({ env: { ...process.env, KAFKA_BROKERS: undefined } })
    if ('missing' in started) throw new Error(started.missing)
    broker = started
    opened.push(broker.stop)
    node = await startSearchNode()
    opened.push(node.close)
    front = await startFront(node.url)
    opened.push(front.close)
    const ports = await freePorts(2)
    port = ports[0] ?? 0
    chatPort = ports[1] ?? 0
    const tools = 'path' in rsyslogd ? dirname(rsyslogd.path) : ''
    // The port of the status page may be in use here.
    const { HOME, PATH, TMPDIR } = process.env
    shell = openShell({
      HOME,
      TMPDIR,
      PATH: `${tools}:${PATH}`,
      THREATWEAVE_OPS_PORT: '0',
      THREATWEAVE_NOTIFY_OPS_PORT: '0',
    })
    opened.push(shell.end)
  })
  afterAll(async () => {
    for (const close of opened.toReversed()) await close()
  })

  const put = (step: string): string =>
    step
      .replaceAll('localhost:9092', broker.plain)
      .replaceAll('http://localhost:9200', front.url)
      .replaceAll('http://localhost:8099', `http://localhost:${chatPort}`)
      .replaceAll('SYSLOG_PORT=5514', `SYSLOG_PORT=${port}`)

  const send = async (protocol: 'udp' | 'tcp', line: string): Promise<void> => {
    if (protocol === 'tcp')
      return new Promise((done, fail) => {
        connect(port, '127.0.0.1').once('error', fail).once('close', () => done()).end(`${line}\n`) // prettier-ignore
      })
    const socket = createSocket('udp4')
    await new Promise<void>((done, fail) => {
      socket.send(line, port, '127.0.0.1', (error) => (error ? fail(error) : done()))
    })
    socket.close()
  }

  const alertsOf = async (address: string): Promise<Alert[]> => {
    await node.call('POST', '/firewall-alerts/_refresh')
    const query = { query_string: { query: `related.ip:"${address}"` } }
    const found = (await node.call('POST', '/firewall-alerts/_search', { query })) as {
      hits: { hits: { _source: Alert }[] }
    }
    return found.hits.hits.map(({ _source }) => _source)
  }
  const alertOfHost = async (address: string): Promise<Alert> => {
    await until(`an alert about ${address}`, async () => (await alertsOf(address)).length > 0)
    return (await alertsOf(address))[0]!
  }

  it('leads to an alert by pasting its steps', async () => {
    expect(steps.length).toBe(9)
    let printed = ''
    for (const step of steps.slice(0, -1)) {
      printed += await Promise.race([
        shell.paste(put(step)),
        sleep(150_000).then(() => Promise.reject(new Error(`waits in:\n${step}\n${logs()}`))),
      ])
      if (work === '') work = (await shell.paste('echo "$WORK"')).trim()
    }
    expect(printed).toContain(shown)
    const [alert, ...others] = await alertsOf('10.20.0.0/16')
    expect(others).toEqual([])
    expect(alert).toMatchObject({
      message: shown,
      source: { ip: '10.20.0.15', port: 52144 },
      destination: { ip: '203.0.113.99', port: 443 },
      observer: { name: 'edge-fw-1' },
      threatweave: { feed: 'first-list', direction: 'outbound', action: 'allowed' },
    })
  })

  it('takes lines as they were sent, tabs included, and gives one without a header that of its sender', async () => {
    const leef = '<13>1 2026-11-15T08:00:01Z fw-2 - - - - LEEF:2.0|Example|Wall|1|77|\tsrc=10.20.0.16\tdst=203.0.113.99'
    const bare = 'date=2026-11-15 time=08:00:02 devname="edge-fw-1" srcip=10.20.0.17 dstip=203.0.113.99 action="accept"'
    await send('tcp', leef)
    await send('udp', `<189>${bare}`)
    expect(await alertOfHost('10.20.0.16')).toMatchObject({ observer: { name: 'fw-2' } })
    expect(await alertOfHost('10.20.0.17')).toMatchObject({ observer: { name: 'edge-fw-1', ip: '127.0.0.1' } })
    const records = await readTopic('syslog', (read) => read.length >= 3, { broker: broker.plain })
    const lines = records.map(({ value }) => value?.toString() ?? '')
    expect(lines).toContain(leef)
    expect(lines.find((line) => line.includes('10.20.0.17'))).toMatch(/^<189>1 \S+ 127\.0\.0\.1 - - - - date=/)
    expect(lines.find((line) => line.includes('10.20.0.17'))?.endsWith(bare)).toBe(true)
    expect(records.map(({ key }) => key?.toString())).toEqual(records.map(() => '127.0.0.1'))
    expect(new Set(records.map(({ partition }) => partition)).size).toBe(1)
  })

  it('loses no alert while OpenSearch is away, even if the program that sends them is killed', async () => {
    front.isAway = true
    await send('tcp', '<189>1 2026-11-15T08:00:03Z fw-2 - - - - srcip=10.20.0.18 dstip=203.0.113.99 action="accept"')
    await until('the alert is refused twice', () => front.refused >= 2)
    const start = stepWith('cli.js notify').trim().split('\n').at(-2) ?? ''
    expect(start).toContain('cli.js notify')
    await shell.paste('kill -9 $!; wait $! || true')
    await shell.paste(start)
    const before = front.refused
    await until('the alert is sent again', () => front.refused > before)
    expect(await alertsOf('10.20.0.18')).toEqual([])
    front.isAway = false
    expect(await alertOfHost('10.20.0.18')).toMatchObject({ observer: { name: 'fw-2' } })
    expect((await alertsOf('10.20.0.18')).length).toBe(1)
  })

  it('keeps what OpenSearch rejects, and goes on', async () => {
    const rejected = alertOf(1)
    const value = JSON.stringify({ ...rejected, event: { ...(rejected.event as object), severity: 'very' } })
    const producer = client(broker.plain).producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    await producer.send({ topic: 'syslog-alerts', messages: [{ value }] })
    await producer.disconnect()
    const letters = await readTopic('syslog-alerts-undelivered', (read) => read.length > 0, { broker: broker.plain })
    expect(letters.map((letter) => String(letter.value))).toEqual([value])
    expect(String(letters[0]?.headers['threatweave-answer'])).toContain('severity')
    await send('tcp', '<189>1 2026-11-15T08:00:04Z fw-2 - - - - srcip=10.20.0.19 dstip=203.0.113.99 action="accept"')
    await alertOfHost('10.20.0.19')
  })

  it('holds back from the chat what is silenced, and marks it in OpenSearch', async () => {
    const isAboutIt = ({ threatweave }: Alert): boolean => threatweave.peer === '10.20.0.15'
    const silenced = (await alertsOf('10.20.0.15')).find(isAboutIt)!
    const again = { ...silenced, event: { ...silenced.event, id: idOf(2) } }
    const body = { ...silenced.threatweave, alert_id: idOf(2), group_id: idOf(3) }
    const producer = client(broker.plain).producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    await producer.send({
      topic: 'syslog-alerts',
      messages: [{ value: JSON.stringify({ ...again, threatweave: body }) }],
    })
    await producer.disconnect()
    const markedIn = async (): Promise<Alert | undefined> =>
      (await alertsOf('10.20.0.15')).find(({ event }) => event.id === idOf(2))
    await until('the marked alert', async () => (await markedIn()) !== undefined)
    const marked = await markedIn()
    expect(marked).toMatchObject({ threatweave: { silenced: { reason: 'a known test, ticket 4711' } } })
    await send('tcp', '<189>1 2026-11-15T08:00:05Z fw-2 - - - - srcip=10.20.0.20 dstip=203.0.113.99 action="accept"')
    const chat = (): string => readFileSync(join(work, 'chat.log'), 'utf8')
    await until('the next message', () => chat().includes('10.20.0.20'))
    expect(chat()).not.toContain(idOf(2))
  })

  it('ends everything with its last step', async () => {
    await shell.paste(put(steps.at(-1)!))
    expect((await shell.paste('jobs -rp')).trim()).toBe('')
    expect(existsSync(work)).toBe(false)
  })
})
