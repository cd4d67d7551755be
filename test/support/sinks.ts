// Sinks for tests: an HTTP server that stores requests and answers as configured, and alerts in the format of `run`.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sampleAlert } from '../../src/parts/notify/notices.js'
import type { Incoming } from '../../src/kafka/records.js'
import { readSinkFile, type Sink } from '../../src/parts/notify/sink-file.js'

export type Received = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type SinkServer = {
  readonly url: URL
  readonly received: readonly Received[]
  readonly close: () => Promise<void>
}

export type Answer = (received: Received, response: ServerResponse, nth: number) => void

/** Accepts everything without `answer`. */
export const startSinkServer = async (
  answer: Answer = (_, response) => void response.end('ok'),
): Promise<SinkServer> => {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one = { method, path: url, headers, body: Buffer.concat(chunks).toString() }
      received.push(one)
      answer(one, response, received.length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`),
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export const answerWith =
  (status: number, body = '', headers: Readonly<Record<string, string>> = {}): Answer =>
  (_, response) =>
    void response.writeHead(status, headers).end(body)

export const sinkOf = (text: string): Sink => {
  const read = readSinkFile({ name: 'sink.yaml', text })
  if ('problems' in read) throw new Error(JSON.stringify(read.problems))
  return read.sink
}

type Changes = {
  readonly group?: string
  readonly level?: string
  readonly message?: string
  readonly original?: string
  readonly peer?: string
  readonly rule?: string
  readonly at?: number
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)

/** The nth alert; alerts of a group share `group`. */
export const alertOf = (nth: number, changes: Changes = {}): Record<string, unknown> => {
  const { whole } = sampleAlert('x', changes.at ?? Date.now()) as unknown as { whole: Record<string, object> }
  return {
    ...whole,
    message: changes.message ?? `alert ${nth}`,
    event: { ...whole.event, id: hash(`alert ${nth}`), original: changes.original ?? `line ${nth}` },
    rule: { ...whole.rule, name: changes.rule ?? 'A rule' },
    threatweave: {
      ...whole.threatweave,
      alert_id: hash(`alert ${nth}`),
      group_id: hash(changes.group ?? `group ${nth}`),
      level: changes.level ?? 'high',
      peer: changes.peer ?? '10.0.0.31',
    },
  }
}

export const alertRecordOf = (nth: number, changes: Changes = {}): Incoming =>
  recordOf(nth, Buffer.from(JSON.stringify(alertOf(nth, changes))), changes.at)

export const recordOf = (nth: number, value: Buffer | null, at = Date.now()): Incoming => ({
  topic: 'alerts',
  partition: 0,
  offset: String(nth),
  timestamp: String(at),
  key: null,
  value,
  headers: [],
})

/** The alert ids of requests whose body is a single alert. */
export const alertIdsIn = (received: readonly Pick<Received, 'body'>[]): readonly string[] =>
  received.map(({ body }) => (JSON.parse(body) as { threatweave: { alert_id: string } }).threatweave.alert_id)

export const idOf = (nth: number): string => hash(`alert ${nth}`)
