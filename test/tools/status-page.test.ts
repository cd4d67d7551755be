// The status page in a real browser: live updates, an outage and its end, hostile events as text, keyboard, both colour schemes, a phone.
import type { ProviderState } from '../../src/domain/provider-state.js'
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { observePipeline } from '../../src/ops/observe-pipeline.js'
import { openProvider, seen } from '../support/ops.js'
import { openTestPage } from '../support/status-page.js'
import { findTool } from '../support/tools.js'

const tool = findTool('chromium')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

if ('missing' in tool)
  describe('the status page', () => {
    it.skip(`is not opened in a browser: ${'missing' in tool ? tool.missing : ''}`, () => undefined)
  })

describe.runIf('path' in tool)('the status page', () => {
  let browser: Browser
  let ops: Awaited<ReturnType<typeof openTestPage>>
  let feed: NodeJS.Timeout
  let provider: ProviderState = openProvider
  const markup = '<script>window.hacked = 1</script>'
  const hostile = seen({
    value: '<script>window.hacked = 3</script>',
    summary: '<img src=x onerror="window.hacked = 2"> \u001b[31mred',
  })

  const alertOf = (id: string, level: string, value: string, peer: string, rule: string): void =>
    ops.page.alerted({
      '@timestamp': new Date().toISOString(),
      event: { original: `src=${peer} dst=${value}` },
      rule: { id: rule, name: rule },
      threatweave: {
        ...{ alert_id: id, level, value, peer, direction: 'outbound', action: 'allowed', count: 1 },
        ...{ summary: `${value} is malicious: listed in sample`, origin: `firewall/0/${id}` },
      },
    })

  beforeAll(async () => {
    ops = await openTestPage({}, { provider: () => provider })
    const line = observePipeline<number, typeof hostile, undefined>(
      (_, use) => {
        use(seen({ verdict: 'clean' }), 0)
        use(hostile, 1)
        return true
      },
      { counters: ops.counters, see: ops.page.see, now: Date.now },
    )
    alertOf('1', 'high', '203.0.113.9', '10.0.0.5', 'Connection to Malicious Address or Name')
    alertOf('2', 'low', 'c2.example.net', '10.0.0.6', 'Client Claims Malicious Address or Name')
    alertOf('3', 'critical', markup, markup, markup)
    for (const [nth, level] of ['medium', 'informational'].entries())
      alertOf(`4${nth}`, level, `192.0.2.${nth}`, '10.0.0.7', 'Login from Malicious Address')
    ops.counters.emit({ event: 'alerts_raised', alerts: 2, late: false, levels: ['high', 'low'] } as never)
    feed = setInterval(() => void line([1, 2], () => undefined), 20)
    browser = await chromium.launch({
      executablePath: 'path' in tool ? tool.path : '',
      args: ['--no-sandbox', '--disable-gpu'],
    })
  })
  afterAll(async () => {
    clearInterval(feed)
    await browser.close()
    await ops.close()
  })

  const open = async (
    options: Parameters<Browser['newPage']>[0],
    look: (page: Page, complaints: string[]) => Promise<void>,
  ): Promise<void> => {
    const page = await browser.newPage(options)
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(ops.url)
    await look(page, complaints)
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    expect(complaints).toEqual([])
    await page.close()
  }

  it('moves, shows an outage of the provider and its end within seconds, and a hostile event as text', async () => {
    await open({ viewport: { width: 1200, height: 900 } }, async (page) => {
      const textOf = async (id: string): Promise<string> => (await page.textContent(`#${id}`)) ?? ''
      const says = (id: string, text: string): Promise<void> =>
        expect.poll(() => textOf(id), { timeout: 600_000 }).toContain(text)
      await says('live', 'live')
      const before = await textOf('note-annotate')
      await expect.poll(() => textOf('note-annotate'), { timeout: 600_000 }).not.toBe(before)
      await expect.poll(async () => parseFloat(await textOf('rate-read')), { timeout: 600_000 }).toBeGreaterThan(1)
      provider = { ...openProvider, state: 'breaker_open', reason: 'breaker_open', until: Date.now() + 30_000 }
      await says('asking', 'the circuit breaker is open')
      expect(await page.getAttribute('#card-asking', 'data-tone')).toBe('bad')
      provider = openProvider
      await says('asking', 'Provider available')
      const cells = await page.locator('#findings tr').first().locator('td').allTextContents()
      expect(cells[1]).toBe('<script>window.hacked = 3</script>')
      expect(cells[6]).toBe('<img src=x onerror="window.hacked = 2"> \\u001b[31mred')
      expect(await page.locator('script').count()).toBe(1)
      expect(await page.locator('img').count()).toBe(0)
    })
  })

  it('shows an indicator a row, worst first, and finds by address, name, host and rule with the keyboard', async () => {
    await open({ viewport: { width: 1200, height: 900 } }, async (page) => {
      await expect.poll(() => page.textContent('#live'), { timeout: 600_000 }).toBe('live')
      const shown = (): Promise<string[]> => page.locator('#alerts tr:visible .what').allTextContents()
      expect(await shown()).toEqual([markup, '203.0.113.9', '192.0.2.0', 'c2.example.net', '192.0.2.1'])
      for (const [typed, found] of [
        ['203.0.113', ['203.0.113.9']],
        ['C2.example', ['c2.example.net']],
        ['10.0.0.6', ['c2.example.net']],
        ['high connection', ['203.0.113.9']],
        ['nothing like it', []],
      ] as const) {
        await page.keyboard.press('/')
        await page.keyboard.type(typed)
        expect(await shown()).toEqual(found)
        expect(await page.textContent('#found')).toContain(`${found.length} of `)
        await page.keyboard.press('Escape')
        expect(await shown()).toHaveLength(5)
        await page.evaluate('document.activeElement.blur()')
      }
      // A row that is folded is shown where no other is found.
      await page.keyboard.press('/')
      await page.keyboard.type('onerror')
      expect(await page.locator('#findings tr:visible').count()).toBe(1)
    })
  })

  it('shows a dozen rows at first, and all of them with a button or where the filter finds them', async () => {
    for (let nth = 0; nth < 10; nth++) alertOf(`9${nth}`, 'informational', `198.51.100.${nth}`, '10.0.0.9', 'Many')
    await open({ viewport: { width: 1200, height: 900 } }, async (page) => {
      await expect.poll(() => page.textContent('#live'), { timeout: 600_000 }).toBe('live')
      const rows = page.locator('#alerts tr:visible')
      expect(await rows.count()).toBe(12)
      await page.keyboard.press('/')
      await page.keyboard.type('many')
      expect(await rows.count()).toBe(10)
      await page.keyboard.press('Escape')
      await page.click('#show-all')
      expect(await rows.count()).toBe(15)
    })
  })

  it('keeps the focus and what was opened while it is updated and alerted again, and the event is a click away', async () => {
    await open({ viewport: { width: 1200, height: 900 } }, async (page) => {
      await expect.poll(() => page.textContent('#live'), { timeout: 600_000 }).toBe('live')
      const row = page.locator('#alerts tr', { hasText: '203.0.113.9' })
      await row.locator('summary').focus()
      await page.keyboard.press('Enter')
      const before = await page.textContent('#uptime')
      await expect.poll(() => page.textContent('#uptime'), { timeout: 600_000 }).not.toBe(before)
      alertOf('11', 'high', '203.0.113.9', '10.0.0.8', 'Connection to Malicious Address or Name')
      const place = (): Promise<string | null> => row.locator('.place').getAttribute('href')
      await expect.poll(place, { timeout: 600_000 }).toBe('alert?id=11')
      expect(await page.evaluate("document.activeElement.closest('tr')?.id")).toBe(await row.getAttribute('id'))
      expect(await row.locator('pre:visible').textContent()).toBe('src=10.0.0.8 dst=203.0.113.9')
      await row.locator('.copy').click()
      await expect.poll(() => row.locator('.copy').textContent(), { timeout: 600_000 }).toMatch(/^(?:Copied|Selected)$/)
      const { origin } = new URL(page.url())
      const href = (await place()) ?? ''
      const event = (await (await fetch(`${origin}/${href}`)).json()) as object
      expect(event).toMatchObject({
        topic: 'firewall',
        partition: 0,
        offset: 11,
        command: 'threatweave explain firewall/0/11',
      })
    })
  })

  it('reads a value of a chart with the pointer and with the arrow keys', async () => {
    await open({ viewport: { width: 1200, height: 900 } }, async (page) => {
      await expect.poll(() => page.textContent('#live'), { timeout: 600_000 }).toBe('live')
      const plot = page.locator('#chart-alerts .plot')
      const now = (): Promise<string | null> => page.textContent('#chart-alerts .now')
      await plot.focus()
      const newest = await plot.getAttribute('aria-valuetext')
      expect(await now()).toBe(newest)
      await page.keyboard.press('ArrowLeft')
      expect(await plot.getAttribute('aria-valuenow')).toMatch(/^1[0-9]$|^2[0-9]$/)
      await page.keyboard.press('Home')
      expect(await plot.getAttribute('aria-valuenow')).toBe('0')
      expect(await now()).toContain('no alerts')
      await page.evaluate('document.activeElement.blur()')
      await expect.poll(now, { timeout: 600_000 }).toBe('1 high, 1 low')
      await page.locator('#chart-alerts svg').hover()
      expect(await now()).toMatch(/^\d\d:\d\d to .+: /)
    })
  })

  it.each([
    ['light', 1200],
    ['dark', 1200],
    ['light', 360],
    ['dark', 360],
  ] as const)('has no fault for anybody who reads it in %s, %i wide', async (colorScheme, width) => {
    await open({ colorScheme, viewport: { width, height: 900 }, bypassCSP: true }, async (page) => {
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
      const picture = await page.screenshot()
      expect(picture.length).toBeGreaterThan(10_000)
      const paper = await page.evaluate('getComputedStyle(document.body).backgroundColor')
      expect(paper).toBe(colorScheme === 'dark' ? 'rgb(14, 19, 26)' : 'rgb(244, 246, 249)')
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      await page.addScriptTag({ content: axe })
      const found = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()')
      expect(found.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
    })
  })

  it('fits a phone, and says the same with scripts blocked', async () => {
    await open({ viewport: { width: 360, height: 740 }, javaScriptEnabled: false }, async (page) => {
      expect(await page.textContent('#asking')).toContain('Provider available')
      expect(await page.locator('#alerts .what').first().textContent()).toBe(markup)
      expect(await page.locator('.filter').isVisible()).toBe(false)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    })
  })
})
