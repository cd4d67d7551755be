// The status page in a real browser: live updates, an outage and its end, and hostile events shown as text.
import type { ProviderState } from '../../src/domain/provider-state.js'
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { observePipeline } from '../../src/ops/observe-pipeline.js'
import { openProvider, openTestOps, seen } from '../support/ops.js'
import { findTool } from '../support/tools.js'

const tool = findTool('chromium')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

if ('missing' in tool)
  describe('the status page', () => {
    it.skip(`is not opened in a browser: ${'missing' in tool ? tool.missing : ''}`, () => undefined)
  })

describe.runIf('path' in tool)('the status page', () => {
  let browser: Browser
  let ops: Awaited<ReturnType<typeof openTestOps>>
  let feed: NodeJS.Timeout
  let provider: ProviderState = openProvider
  const hostile = seen({
    value: '<script>window.hacked = 1</script>',
    summary: '<img src=x onerror="window.hacked = 2"> \u001b[31mred',
  })

  beforeAll(async () => {
    ops = await openTestOps({}, { provider: () => provider })
    const line = observePipeline<number, typeof hostile, undefined>(
      (_, use) => {
        use(seen({ verdict: 'clean' }), 0)
        use(hostile, 1)
        return true
      },
      { counters: ops.counters, see: ops.page.see, now: Date.now },
    )
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
      expect(await page.getAttribute('#asking', 'data-tone')).toBe('bad')
      provider = openProvider
      await says('asking', 'Provider available')
      const cells = await page.locator('#findings tr').first().locator('td').allTextContents()
      expect(cells[1]).toBe('<script>window.hacked = 1</script>')
      expect(cells[6]).toBe('<img src=x onerror="window.hacked = 2"> \\u001b[31mred')
      expect(await page.locator('script').count()).toBe(1)
      expect(await page.locator('img').count()).toBe(0)
    })
  })

  it.each(['light', 'dark'] as const)(
    'has no fault for anybody who reads it in %s',
    async (colorScheme) => {
      await open({ colorScheme, viewport: { width: 1200, height: 900 }, bypassCSP: true }, async (page) => {
        const picture = await page.screenshot()
        expect(picture.length).toBeGreaterThan(10_000)
        const paper = await page.evaluate('getComputedStyle(document.body).backgroundColor')
        expect(paper).toBe(colorScheme === 'dark' ? 'rgb(16, 21, 28)' : 'rgb(246, 247, 249)')
        await page.addScriptTag({ content: axe })
        const found = await page.evaluate<{ violations: { id: string }[] }>('axe.run()')
        expect(found.violations.map(({ id }) => id)).toEqual([])
      })
    },
    60_000,
  )

  it('fits a phone, and says the same with scripts blocked', async () => {
    await open({ viewport: { width: 360, height: 740 }, javaScriptEnabled: false }, async (page) => {
      expect(await page.textContent('#asking')).toContain('Provider available')
      expect(await page.locator('#findings td').nth(1).textContent()).toBe('<script>window.hacked = 1</script>')
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    })
  })
})
