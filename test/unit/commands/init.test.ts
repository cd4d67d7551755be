// What `init` writes passes `check`, holds no secret, and is written whole or not at all.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { conflictIn } from '../../../src/commands/init/answers.js'
import { createInit } from '../../../src/commands/init/init.js'
import { starterLists } from '../../../src/config/starter-file.js'
import { runCommand, type Ran } from '../../support/run-command.js'

const base = mkdtempSync(join(tmpdir(), 'init-'))
const keyFile = join(base, 'key')
const secret = 'only-for-this-test'
writeFileSync(keyFile, `${secret}\n`)
chmodSync(keyFile, 0o600)
const list = join(base, 'my list.txt')
writeFileSync(list, '198.51.100.7\nbad.example.net\n')

const kafka = ['--brokers', 'kafka-0.soc.svc:9092,192.0.2.5:9093', '--topic', 'firewall']
const everything = [...kafka, '--key-file', keyFile, '--list', list, '--feeds', 'all']
const folder = (): string => mkdtempSync(join(base, 'out-'))
/** As from a place that every user can read, which a test's own folders are not. */
const command = createInit(() => undefined)
const init = (...args: string[]): Promise<Ran> => runCommand(['init', ...args], { command })
const read = (dir: string, name: string): string => readFileSync(join(dir, name), 'utf8')

describe('init', () => {
  it('writes a configuration that check accepts, with the reason beside each setting', async () => {
    const dir = folder()
    const ran = await init(...everything, '--for', 'systemd', '--dir', dir)
    expect(ran.stdout).toContain('The configuration is fine.')
    expect(ran.code).toBe(0)
    expect(readdirSync(dir).toSorted()).toEqual(['threatweave.service', 'threatweave.yaml'])
    const text = read(dir, 'threatweave.yaml')
    expect(parse(text)).toEqual({
      kafka: {
        brokers: ['kafka-0.soc.svc:9092', '192.0.2.5:9093'],
        groupId: 'threatweave-firewall',
        input: { topics: ['firewall'], start: 'latest' },
        output: { topic: 'firewall-annotated' },
      },
      gate: { ownRanges: [] },
      admit: { perDay: 1000 },
      feeds: [
        { name: 'my-list', path: list },
        ...starterLists().map(({ feed: { level, categories, ...feed } }) => ({
          ...feed,
          ...(level === 'suspicious' && { level }),
          ...(categories.length > 0 && { categories }),
        })),
      ],
    })
    for (const { licence } of starterLists()) expect(text).toContain(licence)
    const settings = text.split('\n').filter((line) => /^ +(?:- )?\w+: \S/.test(line)).length
    expect(text.split('\n').filter((line) => line.includes('#')).length).toBeGreaterThan(settings / 3)
    const env = { THREATWEAVE_INTEL_SERVICE_API_KEY_FILE: keyFile }
    expect(await runCommand(['check', '--config', join(dir, 'threatweave.yaml')], { env })).toMatchObject({ code: 0 })
  })

  it.each(['systemd', 'compose', 'kubernetes'])('writes no secret into any file for %s', async (platform) => {
    const dir = folder()
    expect(await init(...everything, '--for', platform, '--dir', dir)).toMatchObject({ code: 0 })
    for (const name of readdirSync(dir)) expect(read(dir, name)).not.toContain(secret)
  })

  it('writes a unit with the program, the configuration and the key where they are', async () => {
    const dir = folder()
    await init(...everything, '--for', 'systemd', '--dir', dir)
    const unit = read(dir, 'threatweave.service')
    expect(unit).toMatch(
      /^ExecStart=\/.+ --max-semi-space-size=32 \/.+\/dist\/cli\.js run --config %d\/threatweave\.yaml$/m,
    )
    expect(unit).toContain(`LoadCredential=threatweave.yaml:${join(dir, 'threatweave.yaml')}\n`)
    expect(unit).toContain(`LoadCredential=lookup-key:${keyFile}\n`)
  })

  it.runIf(spawnSync('systemd-analyze', ['--version']).status === 0)('writes a unit that systemd accepts', async () => {
    const dir = folder()
    await init(...everything, '--for', 'systemd', '--dir', dir)
    // Only the program is built later.
    const unit = join(dir, 'threatweave.service')
    writeFileSync(unit, read(dir, 'threatweave.service').replace(/(?<=^ExecStart=)\S+/m, process.execPath))
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' })
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  it('writes a Compose file that gives the container what the configuration names', async () => {
    const dir = folder()
    await init(...everything, '--for', 'compose', '--dir', dir)
    const { services, secrets, volumes } = parse(read(dir, 'compose.yaml')) as {
      services: {
        threatweave: { image: string; environment: Record<string, string>; volumes: string[]; secrets: string[] }
      }
      secrets: unknown
      volumes: unknown
    }
    const { feeds } = parse(read(dir, 'threatweave.yaml')) as { feeds: { path: string }[] }
    expect(services.threatweave.volumes).toEqual([
      './threatweave.yaml:/etc/threatweave/threatweave.yaml:ro',
      `${base}:/etc/threatweave/lists:ro`,
      'state:/var/lib/threatweave',
    ])
    expect(feeds[0]?.path).toBe('/etc/threatweave/lists/my list.txt')
    expect(services.threatweave.environment).toMatchObject({
      THREATWEAVE_CONFIG: '/etc/threatweave/threatweave.yaml',
      THREATWEAVE_INTEL_SERVICE_API_KEY_FILE: '/run/secrets/lookup-key',
    })
    expect(services.threatweave.secrets).toEqual(['lookup-key'])
    expect(secrets).toEqual({ 'lookup-key': { file: keyFile } })
    expect(volumes).toEqual({ state: null })
  })

  it('writes values with the same configuration and the peers of the brokers', async () => {
    const dir = folder()
    const { stdout } = await init(...everything, '--for', 'kubernetes', '--dir', dir)
    expect(readdirSync(dir)).toEqual(['values.yaml'])
    expect(stdout).toContain('firewall and firewall-annotated must exist before')
    expect(stdout).toContain('check --online --create-topics')
    for (const ending of ['dead-letter', 'alerts', 'corrections', 'state', 'verdicts'])
      expect(stdout).toContain(`firewall-annotated-${ending}`)
    const values = parse(read(dir, 'values.yaml')) as { config: { feeds: object[] } }
    expect(values).toMatchObject({
      config: { kafka: { output: { topic: 'firewall-annotated' } } },
      secret: { existing: 'threatweave-key', settings: ['intel.service.apiKey'] },
      networkPolicy: {
        brokers: [
          { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'soc' } } },
          { ipBlock: { cidr: '192.0.2.5/32' } },
        ],
      },
    })
    expect(values.config.feeds[0]).toEqual({ name: 'my-list', path: '/etc/threatweave/lists/my-list' })
  })

  it.each([
    ['systemd', list, 'Your own list; a change takes effect within seconds.'],
    ['compose', list, 'compose.yaml mounts its folder'],
    ['kubernetes', list, 'when Kubernetes has updated the ConfigMap in the pods, after about a minute'],
    ['compose', 'https://lists.example.net/bad.txt', 'refreshed every 60 minutes'],
  ])('says for %s when a change of %s counts', async (platform, own, sentence) => {
    const dir = folder()
    await init(...kafka, '--key-file', 'none', '--list', own, '--for', platform, '--dir', dir)
    const text = read(dir, platform === 'kubernetes' ? 'values.yaml' : 'threatweave.yaml')
    expect(text).toContain(sentence)
    expect(text.includes('within seconds')).toBe(platform !== 'kubernetes' && own === list)
  })

  it('does not hand the root folder to a container with a list', () => {
    const own = { name: 'bad', path: '/bad.txt' }
    expect(conflictIn({ platform: 'compose', list: own })?.sentence).toBe(
      '/bad.txt: Compose mounts the folder of the list, so put the list into a separate folder',
    )
    expect(conflictIn({ platform: 'systemd', list: own })).toBeUndefined()
  })

  it('names every flag that is missing without a terminal', async () => {
    expect(await init('--topic', 'firewall', '--key-file', 'none')).toEqual({
      code: 64,
      stdout: '',
      stderr: 'threatweave: init needs --brokers, --list or --feeds, --for, or a terminal to ask on\n',
    })
    expect((await init()).stderr).toBe(
      'threatweave: init needs --brokers, --topic, --key-file (or --key-file none), --list or --feeds, --for, or a terminal to ask on\n',
    )
  })

  it.each([
    [['--brokers', 'kafka'], '--brokers: a broker is host:port, not "kafka"'],
    [['--topic', 'fire wall'], '--topic: "fire wall" is not a valid topic name'],
    [['--topic', '..'], '--topic: ".." is not a valid topic name'],
    [['--topic', 'a'.repeat(228)], 'is not a valid topic name'],
    [['--key-file', join(base, 'nosuch')], 'write the key into a file first: (umask 077; printf %s KEY > '],
    [['--feeds', 'spamhaus'], '--feeds: there is no list "spamhaus"; there are spamhaus-drop, '],
    [['--list', join(base, 'nosuch')], '--list: ENOENT: no such file or directory'],
    [['--for', 'docker'], '--for: it runs with systemd, compose, kubernetes, not "docker"'],
    [['--service', 'api.example.com'], '--service: a lookup service has a URL such as https://'],
    [[...kafka, '--key-file', 'none', '--feeds', 'none', '--for', 'systemd'], 'without a key, a list or a public list'],
    [
      [
        '--brokers',
        'localhost:9092',
        '--topic',
        'firewall',
        '--key-file',
        'none',
        '--feeds',
        'all',
        '--for',
        'compose',
      ],
      'localhost:9092 means the container itself there',
    ],
  ])('refuses %j', async (args, sentence) => {
    const ran = await init(...args)
    expect(ran).toMatchObject({ code: 64, stdout: '' })
    expect(ran.stderr).toContain(sentence)
  })

  it.each([
    ['--list', 'https://user:only-for-this-test@lists.example.net/bad.txt', 'a username or password'],
    ['--list', 'HTTPS://only-for-this-test@lists.example.net/bad.txt', 'a username or password'],
    ['--list', 'https://lists.example.net/bad.txt?key=only-for-this-test', 'headersFile'],
    ['--list', 'https://user:only-for-this-test@[', 'no address'],
    ['--service', 'https://user:only-for-this-test@intel.example.com', 'a username or password'],
    ['--service', 'https://intel.example.com?key=only-for-this-test', 'give --key-file'],
    ['--service', 'https://user:only-for-this-test@[', 'has a URL such as'],
  ])('takes no secret in %s, and does not show it: %s', async (flag, address, sentence) => {
    const dir = join(folder(), 'new')
    const ran = await init(...kafka, '--key-file', keyFile, flag, address, '--for', 'systemd', '--dir', dir)
    expect(ran).toMatchObject({ code: 64, stdout: '' })
    expect(ran.stderr).toContain(sentence)
    expect(ran.stderr).not.toContain(secret)
    expect(existsSync(dir)).toBe(false)
  })

  it.each(['--list', '--key-file', '--dir'])('refuses control characters in the path of %s', async (flag) => {
    const path = join(base, 'a\nExecStartPre=b')
    writeFileSync(path, '198.51.100.7\n')
    const ran = await init(flag, path)
    expect(ran).toMatchObject({ code: 64 })
    expect(ran.stderr).toContain(`${flag}: "${join(base, 'a?ExecStartPre=b')}" has control characters`)
  })

  it('replaces no file without --force, and no other file with it', async () => {
    const dir = folder()
    writeFileSync(join(dir, 'threatweave.yaml'), 'mine')
    writeFileSync(join(dir, 'values.yaml'), 'mine')
    const args = [...kafka, '--key-file', 'none', '--feeds', 'tor-exits', '--for', 'compose', '--dir', dir]
    expect(await init(...args)).toEqual({
      code: 64,
      stdout: '',
      stderr: `threatweave: ${join(dir, 'threatweave.yaml')} exists; --force replaces it, --dir writes elsewhere\n`,
    })
    expect(read(dir, 'threatweave.yaml')).toBe('mine')
    expect(await init(...args, '--force')).toMatchObject({ code: 0 })
    expect(read(dir, 'threatweave.yaml')).toContain('tor-exits')
    expect(read(dir, 'values.yaml')).toBe('mine')
  })

  it('writes nothing when check finds a problem', async () => {
    const parent = folder()
    const dir = join(parent, 'new', 'deep')
    const page = join(base, 'page.txt')
    writeFileSync(page, '<!doctype html><html><body>Sign in</body></html>\n')
    const ran = await init(...kafka, '--key-file', 'none', '--list', page, '--for', 'systemd', '--dir', dir)
    expect(ran.code).toBe(78)
    expect(ran.stderr).toContain('feeds.0')
    expect(readdirSync(parent)).toEqual([])
  })

  it('quotes what YAML would take for something else', async () => {
    const dir = folder()
    const args = ['--brokers', 'kafka:9092', '--topic', '123', '--key-file', 'none', '--feeds', 'ipsum']
    expect(await init(...args, '--for', 'systemd', '--dir', dir)).toMatchObject({ code: 0 })
    expect(parse(read(dir, 'threatweave.yaml'))).toMatchObject({ kafka: { input: { topics: ['123'] } } })
  })

  it('is not misled by variables that are set where it runs', async () => {
    const env = { THREATWEAVE_KAFKA_BROKERS: 'nonsense', THREATWEAVE_FEEDS: '[]' }
    const args = [...kafka, '--key-file', 'none', '--feeds', 'tor-exits', '--for', 'systemd', '--dir', folder()]
    expect(await runCommand(['init', ...args], { env, command })).toMatchObject({ code: 0 })
  })
})

describe('init on a terminal', () => {
  const typed = (lines: readonly string[], ...args: string[]): Promise<Ran> =>
    runCommand(['init', ...args], { command, isTyped: true, input: lines.map((line) => `${line}\n`).join('') })

  it('asks five questions, and without a key one for each public list, each again until its answer can be used', async () => {
    const dir = folder()
    const consent = starterLists().map(({ feed }) => (feed.name === 'phishing-database' ? 'y' : ''))
    const answers = ['kafka', 'kafka:9092', 'firewall', '', '', ...consent, '']
    const { code, stdout } = await typed(answers, '--dir', dir)
    expect(code).toBe(0)
    for (const number of [1, 2, 3, 4, 5]) expect(stdout).toContain(`${number}. `)
    expect(stdout).toContain('a broker is host:port, not "kafka"')
    for (const { feed, licence, terms } of starterLists())
      for (const text of [feed.name, licence, terms]) expect(stdout).toContain(text)
    const { feeds } = parse(read(dir, 'threatweave.yaml')) as { feeds: { name: string }[] }
    expect(feeds.map(({ name }) => name)).toEqual(['phishing-database'])
    expect(existsSync(join(dir, 'threatweave.service'))).toBe(true)
  })

  it('asks what no flag says, and for no public lists where there is a key', async () => {
    const dir = folder()
    const answers = [keyFile, 'https://intel.example.com', 'none']
    const { code, stdout } = await typed(answers, ...kafka, '--for', 'compose', '--dir', dir)
    expect(code).toBe(0)
    expect(stdout).not.toContain('Public lists')
    expect(parse(read(dir, 'threatweave.yaml'))).toMatchObject({
      intel: { service: { baseUrl: 'https://intel.example.com' } },
    })
  })

  it('asks again for the brokers that a container cannot reach, and for nothing else', async () => {
    const dir = folder()
    const args = [
      '--topic',
      'firewall',
      '--key-file',
      keyFile,
      '--service',
      'https://intel.example.com',
      '--list',
      'none',
    ]
    const { code, stdout } = await typed(['localhost:9092', 'compose', 'kafka:9092'], ...args, '--dir', dir)
    expect(stdout).toContain('localhost:9092 means the container itself there')
    expect(code).toBe(0)
    expect(parse(read(dir, 'threatweave.yaml'))).toMatchObject({ kafka: { brokers: ['kafka:9092'] } })
    expect(existsSync(join(dir, 'compose.yaml'))).toBe(true)
  })

  it('asks again for lists when there is no source of verdicts', async () => {
    const dir = folder()
    const none = starterLists().map(() => 'n')
    const answers = ['none', 'none', ...none, list, ...none]
    const { code, stdout } = await typed(answers, ...kafka, '--for', 'compose', '--dir', dir)
    expect(stdout).toContain('there is no source of verdicts')
    expect(code).toBe(0)
    expect(parse(read(dir, 'threatweave.yaml'))).toMatchObject({ feeds: [{ name: 'my-list' }] })
  })

  it('asks again for a list that has the name of a public one', async () => {
    const dir = folder()
    const clash = join(base, 'ipsum.txt')
    writeFileSync(clash, '198.51.100.7\n')
    const args = [...kafka, '--key-file', 'none', '--feeds', 'ipsum', '--for', 'compose', '--dir', dir]
    const { code, stdout } = await typed([clash, list], ...args)
    expect(stdout).toContain('the list ipsum has the name of a public list')
    expect(code).toBe(0)
  })

  it('says before the first question that a file is there', async () => {
    const dir = folder()
    writeFileSync(join(dir, 'threatweave.yaml'), 'mine')
    expect(await typed(['kafka:9092'], '--dir', dir)).toMatchObject({ code: 64, stdout: '' })
  })

  it('asks again how it runs where a unit could not start', async () => {
    const dir = folder()
    const closed = createInit(() => 'nobody else can enter /home/alice')
    const args = [...kafka, '--key-file', 'none', '--feeds', 'ipsum', '--list', 'none', '--dir', dir]
    const options = { command: closed, isTyped: true, input: 'systemd\ncompose\n' }
    const { code, stdout } = await runCommand(['init', ...args], options)
    expect(stdout).toContain('nobody else can enter /home/alice')
    expect(code).toBe(0)
    expect(readdirSync(dir).toSorted()).toEqual(['compose.yaml', 'threatweave.yaml'])
    const other = folder()
    expect(await runCommand(['init', ...args, '--for', 'systemd', '--dir', other], { command: closed })).toMatchObject({
      code: 64,
      stderr: 'threatweave: nobody else can enter /home/alice\n',
    })
    expect(readdirSync(other)).toEqual([])
  })

  it('writes nothing when the terminal is closed before the last answer', async () => {
    const dir = folder()
    const ran = await typed(['kafka:9092', 'firewall'], '--dir', dir)
    expect(ran).toMatchObject({
      code: 64,
      stderr: 'threatweave: not every question was answered\n',
    })
    expect(readdirSync(dir)).toEqual([])
  })
})
