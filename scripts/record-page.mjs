// Makes docs/images/status-page.png: runs the demo under traffic for some minutes and photographs its status page. Needs a build.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { shrinkPng } from './shrink-png.mjs'

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '230' },
    out: { type: 'string', default: resolve(root, 'docs/images/status-page.png') },
    scheme: { type: 'string', default: 'light' },
    width: { type: 'string', default: '1280' },
  },
})
const maxBytes = 250_000
const program = resolve(root, 'dist/cli.js')

/** Resolves once the demo has printed the addresses of its page and its broker. */
const startDemo = () =>
  new Promise((done, fail) => {
    const demo = spawn(process.execPath, [program, 'demo', '--keep'], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    demo.stdout.setEncoding('utf8').on('data', (part) => {
      said += part
      const [, url] = /^Status page: (\S+)$/m.exec(said) ?? []
      const [, brokers] = /THREATWEAVE_KAFKA_BROKERS=(\S+)/.exec(said) ?? []
      if (url && brokers) done({ demo, url, brokers })
    })
    demo.once('exit', () => fail(new Error(`the demo ended: ${said.slice(-1000)}`)))
  })

const pick = (list, nth) => list[nth % list.length]
const host = (nth) => `10.0.0.${20 + ((nth * 7) % 60)}`

/** The usual traffic of a host. */
const usual = (nth) => ({
  'source.ip': host(nth),
  'destination.ip': pick(['198.51.100.101', '198.51.100.101', '198.51.100.40'], nth),
  'destination.port': 443,
  'event.action': 'allowed',
})
const query = (from, name) => ({ 'source.ip': from, 'destination.ip': '10.0.0.2', 'dns.question.name': name })
/** Occasional findings: seconds after the start → event. */
const found = new Map([
  [31, query('10.0.0.58', 'img.ads.example.net')],
  [44, query('10.0.0.61', 'img.ads.example.net')],
  [97, query('10.0.0.44', 'a7.c2.botnet.example.org')],
  [99, query('10.0.0.45', 'a7.c2.botnet.example.org')],
  [104, query('10.0.0.46', 'a7.c2.botnet.example.org')],
  [163, query('10.0.0.29', 'sso.phish.example.net')],
  [206, query('10.0.0.72', 'sso.phish.example.net')],
])

const perSecond = (second) => Math.round(90 + 45 * Math.sin(second / 23) + (second > 140 && second < 165 ? 160 : 0))

/** Sends events until the signal aborts. */
const sendTraffic = async (brokers, signal) => {
  const env = { ...process.env, THREATWEAVE_KAFKA_BROKERS: brokers }
  const sender = spawn(process.execPath, [program, 'produce', '-', 'firewall'], {
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  for (let second = 0, nth = 0; !signal.aborted; second++) {
    const events = Array.from({ length: perSecond(second) }, () => usual(nth++))
    if (found.has(second)) events.push(found.get(second))
    const at = new Date().toISOString()
    for (const event of events) sender.stdin.write(`${JSON.stringify({ '@timestamp': at, ...event })}\n`)
    await sleep(1000)
  }
  const ended = once(sender, 'exit')
  sender.stdin.end()
  await ended
}

const takePicture = async (url) => {
  const executablePath = execFileSync(resolve(root, 'scripts/fetch-tools.sh'), ['chromium'], {
    encoding: 'utf8',
  }).trim()
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  const page = await browser.newPage({
    colorScheme: values.scheme,
    viewport: { width: Number(values.width), height: 900 },
  })
  await page.goto(url)
  await page.waitForFunction("document.getElementById('live').textContent === 'live'")
  const health = await page.locator('#health').boundingBox()
  const height = Math.ceil(health.y + health.height + 20)
  const picture = await page.screenshot({ fullPage: true, clip: { x: 0, y: 0, width: Number(values.width), height } })
  await browser.close()
  return shrinkPng(picture)
}

const { demo, url, brokers } = await startDemo()
demo.removeAllListeners('exit')
const stop = new AbortController()
const traffic = sendTraffic(brokers, stop.signal)
let picture
try {
  console.log(`The demo runs; the picture is taken in ${values.seconds} s.`)
  await sleep(1000 * Number(values.seconds))
  picture = await takePicture(url)
} finally {
  stop.abort()
  await traffic
  const ended = once(demo, 'exit')
  demo.kill('SIGINT')
  await ended
}
if (picture.length > maxBytes)
  throw new Error(`the picture has ${picture.length} bytes; a page should not need more than ${maxBytes}`)
mkdirSync(dirname(values.out), { recursive: true })
writeFileSync(values.out, picture)
console.log(`${values.out}: ${picture.length} bytes`)
