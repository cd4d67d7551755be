// The allow command: one dated entry in the list of gate.allow, or a sentence that says why not.
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openApp } from '../../../src/app/open-app.js'
import { load } from '../../../src/config/load.js'
import { allOf } from '../../../src/pipeline/pipeline.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { createFakeClock } from '../../support/clock.js'
import { feedFile } from '../../support/feed-files.js'
import { runCommand } from '../../support/run-command.js'

const dated = ['--until', '2999-12-01', '--reason', 'ticket 4711']
const allow = (list: string | undefined, ...args: string[]): ReturnType<typeof runCommand> =>
  runCommand(['allow', ...args], { env: list === undefined ? {} : { THREATWEAVE_GATE_ALLOW: list } })

describe('allow', () => {
  it.each([
    ['to an empty list', '', ''],
    ['to a list whose last line has no end', 'shop.example.com', 'shop.example.com\n'],
  ])('adds an entry with date and reason %s', async (_, before, kept) => {
    const list = feedFile(before)
    const { code, stdout } = await allow(list, '203.0.113.7', ...dated)
    expect([code, stdout]).toEqual([0, `203.0.113.7 is allowed until 2999-12-01, in ${list}\n`])
    expect(readFileSync(list, 'utf8')).toBe(`${kept}203.0.113.7 until 2999-12-01 # ticket 4711\n`)
  })

  it('adds to the first list that is plain text, not to a warninglist', async () => {
    const [warninglist, list] = [feedFile('{"type":"cidr","list":["198.51.100.0/24"]}'), feedFile('')]
    const lists = `${warninglist},${list}`
    expect((await allow(lists, '.shop.example.com', ...dated)).code).toBe(0)
    expect(readFileSync(list, 'utf8')).toContain('.shop.example.com until')
  })

  it.each([
    ['an address that is never looked up', ['10.20.30.41', ...dated], /private use/],
    ['an entry with its port', ['203.0.113.7:443', ...dated], /is not an address, a range or a name/],
    ['a URL', ['https://shop.example.com/x', ...dated], /one address, range or name/],
    ['a date that is past', ['203.0.113.7', '--until', '2001-01-01', '--reason', 'x'], /is past/],
    ['no date', ['203.0.113.7', '--reason', 'x'], /--until must be a date/],
    ['no reason', ['203.0.113.7', '--until', '2999-12-01'], /--reason is required/],
  ])('refuses %s and leaves the list as it is', async (_, args, message) => {
    const list = feedFile('shop.example.com\n')
    const { code, stderr } = await allow(list, ...args)
    expect([code, stderr]).toEqual([64, expect.stringMatching(message) as string])
    expect(readFileSync(list, 'utf8')).toBe('shop.example.com\n')
  })

  it('keeps a reason of several lines on one', async () => {
    const list = feedFile('')
    await allow(list, '203.0.113.7', '--until', '2999-12-01', '--reason', 'a\n198.51.100.0/24')
    expect(readFileSync(list, 'utf8')).toBe('203.0.113.7 until 2999-12-01 # a 198.51.100.0/24\n')
  })

  it('says what to set where no list is configured', async () => {
    const { code, stderr } = await allow(undefined, '203.0.113.7', ...dated)
    expect([code, stderr]).toEqual([78, expect.stringContaining('gate.allow') as string])
  })
})

describe('a changed list', () => {
  const url = 'https://shop.example.com/'
  it('counts without a restart, and one that cannot be used changes nothing', async () => {
    const list = feedFile('')
    const feed = feedFile('shop.example.com\n')
    const values = {
      memory: { path: 'none' },
      gate: { allow: [list] },
      feeds: [{ name: 'own', path: feed }],
    }
    const loaded = load({ values, env: {}, readFile: () => '' })
    if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
    const clock = createFakeClock(Date.now())
    const told: TelemetryEvent[] = []
    const app = await openApp(loaded.config, {
      mode: 'complete',
      env: {},
      clock,
      emit: (event) => void told.push(event),
    })
    if ('problems' in app) throw new Error(JSON.stringify(app.problems))
    onTestFinished(app.close)
    const reasonOf = async (): Promise<string | undefined> => {
      const [event] = await allOf(app.pipeline, [{ bytes: Buffer.from(`{"url.full":"${url}"}`), origin: 'a/0/0' }])
      return event?.annotation.reason ?? event?.verdict
    }
    const until = async (event: TelemetryEvent['event']): Promise<void> => {
      while (!told.some((one) => one.event === event)) {
        await clock.advance(5_000)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    expect(await reasonOf()).toBe('malicious')
    writeFileSync(list, 'shop.example.com until 2999-12-01 # ticket 4711\n')
    await until('allow_loaded')
    expect(await reasonOf()).toBe('allow_listed')
    writeFileSync(list, 'no entry at all\n')
    await until('allow_refused')
    expect(await reasonOf()).toBe('allow_listed')
  })
})
