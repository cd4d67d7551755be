// `check FILE` as it is typed: what a file is taken for by its content, and what is said about it.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { check } from '../../../src/commands/check.js'
import { UsageError, type Io } from '../../../src/terminal/command.js'
import { ConfigurationError } from '../../../src/config/problem.js'
import { openFeeds } from '../../../src/feeds/open-feeds.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { recogniseFile } from '../../../src/app/recognise-file.js'
import { ruleText } from '../../support/rules.js'

const root = resolve(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'check-files-'))
const put = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const run = async (positionals: readonly string[], values: Record<string, string | boolean> = {}, env = {}) => {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const text = (stream: PassThrough): string => (stream.read() as Buffer | null)?.toString() ?? ''
  const io: Io = { env, stdin: new PassThrough(), stdout, stderr, signal: new AbortController().signal }
  const code = await check.run({ positionals, values }, io)
  return { code, out: text(stdout), err: text(stderr) }
}

const page = readFileSync(join(root, 'docs/formats.md'), 'utf8')
const worked = /```yaml\n(id: acme-gate[\s\S]+?)```/.exec(page)?.[1] ?? ''
const sourceText = readFileSync(join(root, 'examples/source.yaml'), 'utf8')
const feeds = { THREATWEAVE_FEEDS: JSON.stringify([{ name: 'mine', path: put('list.txt', 'bad.example.com\n') }]) }

describe('a file', () => {
  it.each([
    ['threatweave.yaml', 'kafka: { brokers: [] }\n', 'configuration'],
    ['threatweave.json', '{"kafka": {"brokers": []}}', 'configuration'],
    ['empty.yaml', '# nothing yet\n', 'configuration'],
    ['rule.yml', ruleText('sel:\n    threatweave.verdict: malicious\ncondition: sel'), 'rule'],
    ['acme.yaml', worked, 'format'],
    ['misspelt.yaml', worked.replace('cut:', 'cutt:'), 'format'],
    ['broken.yaml', `${worked}fields: {{{\n`, 'format'],
    ['list.txt', 'bad.example.com\n198.51.100.7\n', 'feed'],
    ['bundle.json', '{"type": "bundle", "id": "bundle--1", "objects": []}', 'feed'],
    ['event.json', '{"id": "1", "date": "2026-11-01", "info": "x", "Tag": [], "Attribute": []}', 'feed'],
    ['warninglist.json', '{"name": "x", "description": "x", "type": "cidr", "list": []}', 'feed'],
    ['rule.json', '{"title": "x", "logsource": {}, "detection": {}}', 'rule'],
    ['list.csv', 'value,score\nbad.example.com,90\n', 'feed'],
    ['judgement.yaml', 'rows:\n  dangerous: { level: malicious }\n', 'judgement table'],
    ['source.yaml', sourceText, 'source'],
    ['misspelt-source.yaml', sourceText.replace('ask:', 'asks:'), 'source'],
    ['thresholds.yaml', 'maxAgeDays: 14\nsigns: 3\n', 'judgement table'],
    ['other.yaml', 'apiVersion: v1\nkind: Pod\n', undefined],
  ])('%s is known by its content', (name, text, kind) => {
    expect(recogniseFile(name, text)).toBe(kind)
  })
})

describe('check FILE', () => {
  it('says what is wrong with a judgement table, with its line, and that the built-in one is fine', async () => {
    const path = put('mine.yaml', 'signs: 2\nrows:\n  dangerus: { level: malicious }\n')
    const { code, out, err } = await run([path, join(root, 'examples/judgement.yaml')], {}, feeds)
    expect(out + err).toContain(`${path}:3`)
    expect(out + err).toContain('rows.dangerus is not a setting; did you mean dangerous?')
    expect(out).toContain('examples/judgement.yaml: a judgement table, 0 errors')
    expect(code).toBe(1)
  })

  it('runs the examples of a source, says which is wrong, with its line, and prints the terms of use', async () => {
    const path = put('wrong-source.yaml', sourceText.replace('risk: 93', 'risk: 20'))
    const line = sourceText.split('\n').findIndex((each) => each.includes('- asked: 203.0.113.50')) + 1
    const wrong = await run([path])
    expect(wrong.out).toContain(`error    ${path}:${line}: examples.0 should give malicious and gives nothing\n`)
    expect(wrong.code).toBe(1)
    const { code, out } = await run([join(root, 'sources/virustotal.yaml')])
    expect(out).toContain('4 calls per minute, 500 calls per day')
    expect(out).toContain('must not be used in commercial products')
    expect(out).toContain('source virustotal, 7 examples, 0 errors')
    expect(code).toBe(0)
  })

  it('says that a format, a rule, a feed and a configuration are fine', async () => {
    const rule = put('good.yml', ruleText('sel:\n    threatweave.verdict: malicious\ncondition: sel'))
    const paths = [put('acme.yaml', worked), rule, put('feed.txt', 'bad.example.com\n'), put('c.yaml', 'gate: {}\n')]
    const { code, out } = await run(paths, {}, feeds)
    expect(out).toBe(
      [
        `${paths[0]}: 1 format, 0 errors`,
        `${paths[1]}: 1 file, 1 usable rule, 0 errors, 0 warnings`,
        `${paths[2]}: a feed of 0 addresses and 1 name`,
        'The configuration is fine.\n',
      ].join('\n'),
    )
    expect(code).toBe(0)
  })

  it.each([
    [
      'a wrong example',
      (text: string) => text.replace('destination.port: 443', 'destination.port: 80'),
      11,
      'should be 80, found 443',
    ],
    ['an unknown name', (text: string) => text.replace('{source}', '{client}'), 4, '{client} is no name'],
    [
      'an unknown name in the example',
      (text: string) => text.replace('source.port:', 'src.port:'),
      9,
      'src.port is no name',
    ],
    [
      'an id that is taken',
      (text: string) => text.replace('id: acme-gate', 'id: squid'),
      1,
      'another format has the id squid',
    ],
    [
      'lines of another format',
      () =>
        "id: mine\ncut: text\ncontains: [TCP_]\nline: '{*}TCP_{*} {message}'\nexample: { line: 'x TCP_A b 192.0.2.1' }\n",
      1,
      'matches an example of squid too',
    ],
    ['broken YAML', (text: string) => text.replace("'acme-gate: '", "'acme-gate: "), undefined, ''],
  ])('refuses a format for %s, with file, line and reason', async (_, change, line, words) => {
    const path = put('wrong.yaml', change(worked))
    const { code, out } = await run([path], { json: true })
    const [first] = out.split('\n').map((one) => (one === '' ? undefined : (JSON.parse(one) as object)))
    expect(first).toMatchObject({ kind: 'error', file: path, line: line ?? (expect.any(Number) as number) })
    expect(out).toContain(words)
    expect(code).toBe(1)
  })

  it('checks a format that is in use against the others, not against itself', async () => {
    const path = put('used.yaml', worked)
    const env = { THREATWEAVE_EXTRACT_FORMATS: folderOf(path) }
    expect((await run([path], {}, env)).out).toBe(`${path}: 1 format, 0 errors\n`)
    expect((await run([join(root, 'formats/squid.yaml')])).code).toBe(0)
    expect((await run([join(root, 'formats')])).code).toBe(0)
  })

  it('names the line of a feed that is refused', async () => {
    const path = put('page.txt', '<!doctype html>\n<title>Sign in</title>\n')
    const { code, out } = await run([path])
    expect(out).toMatch(new RegExp(`^error +${path}:1: is a web page.+\n${path}: a refused feed\n$`))
    expect(code).toBe(1)
  })

  it('names the lines of a feed that are skipped', async () => {
    const path = put('some.txt', 'bad.example.com\n0.0.0.0/0\n')
    const { code, out } = await run([path])
    expect(out).toMatch(
      new RegExp(
        `^warning +${path}:2: "0.0.0.0/0" is wider than /8\n${path}: a feed of 0 addresses and 1 name; 1 skipped: 1 too_broad .+\n$`,
      ),
    )
    expect(code).toBe(0)
  })

  it('says as much as `feeds` and the log about what a feed holds and why the rest is skipped', async () => {
    const indicators = [
      "[ipv4-addr:value = '198.51.100.7'",
      "[domain-name:value = 'bad.example.com']",
      "[url:value LIKE 'x%']",
    ]
    const objects = indicators.map((pattern, n) => ({ type: 'indicator', id: `indicator--${n}`, pattern }))
    const path = put('bundle.json', JSON.stringify({ type: 'bundle', objects }, null, 1))
    const { code, out } = await run([path])
    expect(out).toBe(
      [
        `error    ${path}:6: "[ipv4-addr:value = '198.51.100.7'" is skipped (broken): a pattern that cannot be parsed`,
        `warning  ${path}:16: "[url:value LIKE 'x%']" is skipped (inexact): a comparison without an exact value`,
        `${path}: a feed of 0 addresses and 1 name; 2 skipped: 1 broken (a pattern that cannot be parsed), 1 inexact (a comparison without an exact value)`,
        '',
      ].join('\n'),
    )
    expect(code).toBe(1)
    const told: TelemetryEvent[] = []
    const opened = await openFeeds([{ name: 'mine', path, level: 'malicious', categories: [] }], {
      pollMs: 0,
      emit: (event) => void told.push(event),
    })
    await opened.close()
    const skipped = { broken: 1, inexact: 1 }
    expect(opened.status()).toMatchObject([{ state: 'loaded', addresses: 0, names: 1, skipped }])
    expect(told).toMatchObject([
      { event: 'feed_loaded', names: 1, skipped },
      { event: 'feed_entries_skipped', skipped },
    ])
  })

  it('reports a feed without an entry as an error, alone and in a configuration, and says why', async () => {
    const path = put('paths.txt', '/gate.php\n/five.php\n')
    const { code, out } = await run([path])
    expect(out).toContain(
      `error    ${path}: holds no entry that can be used: all 2 of it skipped, 2 not_looked_up (a type that is not supported)\n`,
    )
    expect(out).toContain(`${path}:1: "/gate.php" is a path without a host\n`)
    expect(code).toBe(1)
    const env = { THREATWEAVE_FEEDS: JSON.stringify([{ name: 'mine', path }]) }
    await expect(run([], {}, env)).rejects.toThrow(/feeds.0 names the feed mine, which holds no entry that can be used/)
    const empty = put('empty-now.txt', '# 0 entries\n')
    expect((await run([empty])).out).toContain(`${empty}: holds no entry: it lists nothing at present\n`)
  })

  it('refuses what is none of these, what is not there, and two configurations at once', async () => {
    const pod = put('pod.yaml', 'apiVersion: v1\n')
    expect((await run([pod])).out).toContain(
      `${pod}: is not a configuration, Sigma rule, log format, source, profile, judgement table`,
    )
    expect((await run([join(folder, 'nosuch')])).code).toBe(1)
    const one = put('one.yaml', 'gate: {}\n')
    await expect(run([one], { config: one })).rejects.toThrow(UsageError)
    await expect(run([put('bad.yaml', 'gate: { nonsense: 1 }\n')])).rejects.toThrow(ConfigurationError)
  })

  it('warns of a memory folder that cannot be written, as `run` does, and refuses nothing', async () => {
    const path = put('memory.yaml', `memory: { path: ${join(put('no-folder', ''), 'memory')} }\n`)
    const { code, err } = await run([path], {}, feeds)
    expect(err).toMatch(/^threatweave: warning: memory\.path cannot be used, .+no-folder is not a folder\n$/)
    expect(code).toBe(0)
  })
})

/** A folder with the file alone in it would need its own; a list of one file does as well. */
const folderOf = (path: string): string => JSON.stringify([path])
