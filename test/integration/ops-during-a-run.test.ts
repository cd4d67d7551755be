// What the person on call sees of a real run: rates that move, an outage of the provider and its end, health that stays good.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners, type Producer } from 'kafkajs'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { cliPath } from '../support/cli.js'
import { startUpstream, type Upstream } from '../support/counting-upstream.js'
import { client, makeTopics, type Names } from '../support/kafka.js'
import { limitsEnv } from '../support/limits.js'
import { findTool } from '../support/tools.js'

const tool = findTool('chromium')

/** A list may call its entries anything, and the page shows it. */
const hostileList = (): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'threatweave-hostile-')), 'list.csv')
  writeFileSync(path, 'value,category\n192.0.2.66,<script>window.hacked=1</script>\u001b[31m\n')
  return path
}

if ('missing' in tool)
  describe('the status page during a run', () => {
    it.skip(`is not opened in a browser: ${'missing' in tool ? tool.missing : ''}`, () => undefined)
  })

describe.runIf('path' in tool)('the status page during a run', () => {
  let upstream: Upstream
  let names: Names
  let run: ChildProcess
  let url: string
  let producer: Producer
  let browser: Browser
  let page: Page
  let traffic: NodeJS.Timeout
  const complaints: string[] = []

  beforeAll(async () => {
    upstream = await startUpstream()
    names = await makeTopics({ partitions: 2 })
    run = spawn(process.execPath, [cliPath, 'run'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env.PATH,
        THREATWEAVE_GATE_DOCUMENTATION: 'true',
        THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
        // The provider takes one call at a time, and says no to the second that auto would try.
        THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '1',
        THREATWEAVE_OPS_PORT: '0',
        ...limitsEnv({ admission: { breakerFailures: 2, breakerMs: 1_000, maxBreakerMs: 1_000 } }),
        THREATWEAVE_INTEL_SERVICE_BASE_URL: upstream.url,
        THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
        THREATWEAVE_MEMORY_PATH: 'none',
        THREATWEAVE_FEEDS: JSON.stringify([{ name: 'hostile', path: hostileList() }]),
        THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
        THREATWEAVE_KAFKA_GROUP_ID: names.groupId,
        THREATWEAVE_KAFKA_INPUT_TOPICS: names.input,
        THREATWEAVE_KAFKA_INPUT_START: 'earliest',
        THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
        THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
      },
    })
    url = await new Promise<string>((resolve, reject) => {
      let log = ''
      run.stderr?.setEncoding('utf8').on('data', (part: string) => {
        log += part
        const match = /"event":"ops_listening","url":"([^"]+)"/.exec(log)
        if (match) resolve(match[1]!)
      })
      run.once('exit', () => reject(new Error(log)))
    })
    producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    let serial = 0
    traffic = setInterval(() => {
      const messages = Array.from({ length: 10 }, () => {
        serial++
        return { partition: serial % 2, value: JSON.stringify({ src_ip: `2001:db8::${serial.toString(16)}` }) }
      })
      void producer.send({ topic: names.input, messages }).catch(() => undefined)
    }, 100)
    browser = await chromium.launch({ executablePath: 'path' in tool ? tool.path : '', args: ['--no-sandbox'] })
    page = await browser.newPage({ viewport: { width: 1200, height: 900 } })
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(url)
  })

  afterAll(async () => {
    clearInterval(traffic)
    await browser.close()
    await producer.disconnect()
    if (run.exitCode === null) run.kill('SIGKILL')
    await upstream.close()
  })

  const textOf = async (id: string): Promise<string> => (await page.textContent(`#${id}`)) ?? ''
  const code = async (path: string): Promise<number> => (await fetch(url + path)).status
  const metric = async (start: string): Promise<number> => {
    const text = await (await fetch(`${url}/metrics`)).text()
    const line = text.split('\n').find((one) => one.startsWith(`threatweave_${start} `))
    return Number(line?.split(' ').at(-1))
  }

  it('moves', async () => {
    await expect.poll(() => code('/readyz'), { timeout: 600_000 }).toBe(200)
    for (const step of ['read', 'extract', 'memory', 'ask', 'annotate', 'deliver'])
      await expect.poll(async () => parseFloat(await textOf(`rate-${step}`)), { timeout: 600_000 }).toBeGreaterThan(0)
    expect(await textOf('headline')).toContain('Working')
    const delivered = await metric('events_delivered_total')
    await expect.poll(() => metric('events_delivered_total'), { timeout: 600_000 }).toBeGreaterThan(delivered)
    expect(await metric('end_to_end_latency_seconds_count')).toBeGreaterThan(0)
    expect(await metric('memory_lookups_total{result="miss"}')).toBeGreaterThan(0)
  })

  it('shows an outage of the provider and its end as well, and stays healthy', async () => {
    upstream.reply = () => ({ http: 503, body: { status: 503, message: 'gone' } })
    await expect.poll(() => page.getAttribute('#card-asking', 'data-tone'), { timeout: 600_000 }).toBe('bad')
    expect(await code('/healthz')).toBe(200)
    expect(await metric('provider_calls_total{operation="ip/malicious-info",code="unavailable"}')).toBeGreaterThan(1)
    upstream.reply = undefined
    await expect.poll(() => page.getAttribute('#card-asking', 'data-tone'), { timeout: 600_000 }).toBe('good')
    expect(await code('/healthz')).toBe(200)
  })

  it('shows what a hostile event and a hostile list say as text', async () => {
    const hostile = { '<script>window.hacked=1</script>\u001b[31m': { src_ip: '192.0.2.66' } }
    // Again and again, because the page shows the latest few and others come too.
    const send = (): Promise<unknown> =>
      producer.send({ topic: names.input, messages: [{ partition: 0, value: JSON.stringify(hostile) }] })
    const shown = (): Promise<string> => send().then(() => textOf('alerted'))
    await expect.poll(shown, { timeout: 600_000 }).toContain('<script>window.hacked=1</script>')
    expect(await page.locator('script').count()).toBe(1)
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  it('ends with the run', async () => {
    const ended = new Promise<number | null>((done) => run.once('exit', done))
    clearInterval(traffic)
    await sleep(200)
    run.kill('SIGTERM')
    expect(await ended).toBe(0)
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
  })
})
