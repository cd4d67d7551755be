import { createHmac } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { readAlert, type AlertRecord } from '../../../../src/parts/notify/alert-record.js'
import { createSinkClient, type Outcome } from '../../../../src/parts/notify/sink-client.js'
import {
  alertOf,
  answerWith,
  sinkOf,
  startSinkServer,
  type Answer,
  type Received,
  type SinkServer,
} from '../../../support/sinks.js'

const closings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closings.splice(0)) await close()
})

const secret = 'only-for-this-test'
const at = Date.parse('2026-11-19T08:00:00Z')
const limits = { connectTimeoutMs: 1_000, headersTimeoutMs: 300, bodyTimeoutMs: 300, maxAnswerBytes: 10_000 }

const serverWith = async (answer?: Answer): Promise<SinkServer> => {
  const server = await startSinkServer(answer)
  closings.push(server.close)
  return server
}

const firstOf = ({ received: [first] }: SinkServer): Received => {
  if (!first) throw new Error('nothing was received')
  return first
}

const alertAt = (nth: number, changes: Parameters<typeof alertOf>[1] = {}): AlertRecord => {
  const read = readAlert(Buffer.from(JSON.stringify(alertOf(nth, { at, ...changes }))))
  if ('problem' in read) throw new Error(read.problem)
  return read
}

const sendTo = async (
  text: string,
  server: Pick<SinkServer, 'url'>,
  alerts: readonly AlertRecord[] = [alertAt(1)],
): Promise<readonly Outcome[]> => {
  const client = createSinkClient(sinkOf(text), { url: server.url, secret, env: {}, now: () => at, limits })
  closings.push(client.close)
  return client.send(alerts)
}

const bundledText = (name: string): string =>
  `id: mine\nuse: ${name}\nurl: http://127.0.0.1:1/\n${['pagerduty', 'splunk-hec', 'webhook'].includes(name) ? 'secretFile: x\n' : ''}`
const bundled = readdirSync('sinks').map((name) => name.replace('.yaml', ''))

describe('the client of a sink', () => {
  it('signs time and body of a webhook', async () => {
    const server = await serverWith()
    expect(await sendTo(bundledText('webhook'), server)).toEqual([{ kind: 'delivered' }])
    const { headers, body } = firstOf(server)
    const time = headers['x-threatweave-timestamp']
    expect(time).toBe(String(at / 1000))
    const mac = createHmac('sha256', secret)
      .update(`${String(time)}.${body}`)
      .digest('hex')
    expect(headers['x-threatweave-signature']).toBe(`sha256=${mac}`)
    expect(headers['idempotency-key']).toBe(alertAt(1).id)
    expect(JSON.parse(body)).toEqual(alertAt(1).whole)
  })

  it('makes one incident of a group in PagerDuty', async () => {
    const server = await serverWith(answerWith(202))
    await sendTo(bundledText('pagerduty'), server)
    expect(JSON.parse(server.received[0]?.body ?? '')).toMatchObject({
      routing_key: secret,
      event_action: 'trigger',
      dedup_key: alertAt(1).groupId,
      payload: { summary: 'alert 1', source: '10.0.0.31', severity: 'error', timestamp: '2026-11-19T08:00:00.000Z' },
    })
  })

  it('gives Alertmanager a list of alerts with start and end', async () => {
    const server = await serverWith()
    await sendTo(bundledText('alertmanager'), server)
    expect(JSON.parse(server.received[0]?.body ?? '')).toMatchObject([
      {
        labels: { alertname: 'A rule', severity: 'critical', machine: '10.0.0.31' },
        startsAt: '2026-11-19T08:00:00.000Z',
        endsAt: '2026-11-19T09:00:00.000Z',
      },
    ])
  })

  it('gives Splunk the time in seconds and the token', async () => {
    const server = await serverWith()
    await sendTo(bundledText('splunk-hec'), server, [alertAt(1), alertAt(2)])
    const { headers, body } = firstOf(server)
    expect(headers.authorization).toBe(`Splunk ${secret}`)
    expect(
      body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toMatchObject([
      { time: at / 1000, event: { message: 'alert 1' } },
      { time: at / 1000, event: { message: 'alert 2' } },
    ])
  })

  it('reads of a bulk answer what became of each alert', async () => {
    const items = [
      { create: { status: 201 } },
      { create: { status: 409, error: { reason: 'exists' } } },
      { create: { status: 400, error: { reason: 'failed to parse' } } },
      { create: { status: 429, error: { reason: 'queue full' } } },
    ]
    const server = await serverWith(answerWith(200, JSON.stringify({ items })))
    expect(
      await sendTo(
        bundledText('opensearch'),
        server,
        [1, 2, 3, 4].map((nth) => alertAt(nth)),
      ),
    ).toEqual([
      { kind: 'delivered' },
      { kind: 'delivered' },
      { kind: 'refused', http: 400, answer: 'failed to parse' },
      { kind: 'later', state: 'busy', detail: 'HTTP 429: queue full', afterMs: undefined },
    ])
    const lines = server.received[0]?.body.trim().split('\n') ?? []
    expect(JSON.parse(lines[0] ?? '')).toEqual({ create: { _id: alertAt(1).id } })
    expect(server.received[0]?.headers['content-type']).toBe('application/x-ndjson')
  })

  it.each([
    [200, { kind: 'delivered' }],
    [400, { kind: 'refused', http: 400, answer: 'no' }],
    [413, { kind: 'refused', http: 413, answer: 'no' }],
    [422, { kind: 'refused', http: 422, answer: 'no' }],
    [401, { kind: 'later', state: 'unauthorised' }],
    [403, { kind: 'later', state: 'unauthorised' }],
    [404, { kind: 'later', state: 'not_found' }],
    [408, { kind: 'later', state: 'timeout' }],
    [429, { kind: 'later', state: 'busy', afterMs: 7_000 }],
    [500, { kind: 'later', state: 'failing' }],
    [503, { kind: 'later', state: 'failing' }],
    [410, { kind: 'later', state: 'unexpected' }],
  ] as const)('takes HTTP %s for what it is', async (status, outcome) => {
    const server = await serverWith(answerWith(status, 'no', status === 429 ? { 'retry-after': '7' } : {}))
    expect(await sendTo(bundledText('slack'), server)).toMatchObject([outcome])
  })

  it('follows no redirect', async () => {
    const inside = await serverWith()
    const server = await serverWith(answerWith(307, '', { location: inside.url.href }))
    expect(await sendTo(bundledText('slack'), server)).toMatchObject([{ kind: 'later', state: 'redirects' }])
    expect(inside.received).toEqual([])
  })

  it('leaves a sink that hangs, closes, or is away', async () => {
    const hanging = await serverWith(() => undefined)
    expect(await sendTo(bundledText('slack'), hanging)).toMatchObject([{ kind: 'later', state: 'timeout' }])
    const closing = await serverWith((_, response) => void response.destroy())
    expect(await sendTo(bundledText('slack'), closing)).toMatchObject([{ kind: 'later', state: 'unreachable' }])
    await closing.close()
    expect(await sendTo(bundledText('slack'), closing)).toMatchObject([{ kind: 'later', state: 'unreachable' }])
  })

  it('reads no more of an answer than it has to, and does not unpack one', async () => {
    let written = 0
    const endless = await serverWith((_, response) => {
      const chunk = Buffer.alloc(65_536, 'x')
      const more = (): void => {
        while (!response.destroyed && written < 1e9) {
          written += chunk.length
          if (!response.write(chunk)) return void response.once('drain', more)
        }
      }
      more()
    })
    expect(await sendTo(bundledText('slack'), endless)).toMatchObject([{ kind: 'delivered' }])
    expect(written).toBeLessThan(50_000_000)
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const packed = await serverWith((_, response) => {
      response.writeHead(400, { 'content-encoding': 'gzip' })
      response.end(bomb)
    })
    const [outcome] = await sendTo(bundledText('slack'), packed)
    expect(outcome).toMatchObject({ kind: 'refused', http: 400 })
    expect(outcome?.kind === 'refused' && outcome.answer.length).toBeLessThanOrEqual(500)
  })

  it('takes the secret out of what a sink sends back', async () => {
    const server = await serverWith(answerWith(400, `bad routing key ${secret}`))
    expect(await sendTo(bundledText('pagerduty'), server)).toEqual([
      { kind: 'refused', http: 400, answer: 'bad routing key [redacted]' },
    ])
  })

  it('takes a URL that is a secret out of what a sink says about it', async () => {
    const server = await serverWith(({ path }, response) => void response.writeHead(404).end(`no ${path} here`))
    const url = new URL('/services/T0000000/B0000000/abcdefghijkl', server.url)
    const [outcome] = await sendTo('id: mine\nuse: slack\nurlFile: x\n', { url })
    expect(outcome).toEqual({ kind: 'later', state: 'not_found', detail: 'HTTP 404: no [redacted] here' })
  })

  it.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded'])(
    'sends an empty body of %s where there is nothing to say',
    async (content) => {
      const body = content.endsWith('urlencoded') ? "{ a: '{none}' }" : "'{none}'"
      const server = await serverWith()
      const sent = await sendTo(`id: mine\nurl: http://127.0.0.1/\ncontent: ${content}\nbody: ${body}\n`, server)
      expect(sent).toEqual([{ kind: 'delivered' }])
      expect(firstOf(server).body).toBe(content === 'application/json' ? 'null' : '')
    },
  )

  describe('with hostile content', () => {
    const hostile =
      '=cmd|\' /C calc\'!A0 <script>alert(1)</script> <!channel> @here [x](http://192.0.2.1) {sink.secret} {{7*7}} ${x} "}],"x":"\r\nSet-Cookie: a=b\n{"create":{}}\u202egpj.exe\u001b[2J\u0000'

    it.each(bundled)('%s gets it as text', async (name) => {
      const answers: Record<string, string> = { opensearch: 'bulk', elasticsearch: 'bulk' }
      const server = await serverWith(
        answerWith(200, answers[name] === undefined ? 'ok' : JSON.stringify({ items: [{ create: { status: 201 } }] })),
      )
      const alert = alertAt(1, { message: hostile, original: hostile, rule: hostile, peer: hostile })
      expect(await sendTo(bundledText(name), server, [alert])).toEqual([{ kind: 'delivered' }])
      const { headers, body } = firstOf(server)
      expect(headers['set-cookie']).toBeUndefined()
      const lines = headers['content-type'] === 'application/x-ndjson' ? body.trim().split('\n') : [body]
      expect(lines).toHaveLength(answers[name] === undefined ? 1 : 2)
      const texts: string[] = []
      const walk = (value: unknown): void => {
        if (typeof value === 'string') texts.push(value)
        else if (typeof value === 'object' && value !== null) Object.values(value).forEach(walk)
      }
      for (const line of lines) walk(JSON.parse(line))
      if (name !== 'pagerduty') expect(texts.join()).not.toContain(secret)
      const isWhole = texts.includes(hostile)
      expect(isWhole).toBe(['webhook', 'opensearch', 'elasticsearch', 'splunk-hec'].includes(name))
      if (isWhole) return
      const shown = texts.filter((text) => text.includes('cmd'))
      expect(shown.length).toBeGreaterThan(0)
      for (const text of shown) expect(text).not.toMatch(/[\u0000\u001b\r\u202e]/)
      if (name === 'slack') expect(texts.join()).not.toMatch(/[<>]/)
      if (name === 'mattermost') expect(texts.join()).not.toMatch(/@here|(?<!\\)\[x/)
    })

    it('splits no header', async () => {
      const server = await serverWith()
      const text = `id: mine\nurl: http://127.0.0.1/\nheaders: { x-title: '{message}' }\nbody: '{message}'\ncontent: text/plain\n`
      await sendTo(text, server, [alertAt(1, { message: hostile })])
      expect(server.received[0]?.headers['x-title']).toContain('Set-Cookie: a=b')
      expect(server.received[0]?.headers['set-cookie']).toBeUndefined()
    })

    it('keeps the fields of a form apart', async () => {
      const server = await serverWith()
      const text = `id: mine\nurl: http://127.0.0.1/\ncontent: application/x-www-form-urlencoded\nbody: { a: '{message}', b: x }\n`
      await sendTo(text, server, [alertAt(1, { message: 'x&b=evil' })])
      expect(server.received[0]?.body).toBe('a=x%26b%3Devil&b=x')
    })
  })
})
