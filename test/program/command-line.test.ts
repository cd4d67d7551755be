// What all commands have in common: arguments, exit codes, signals, output errors.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { cliPath, root, runCli, someFeed } from '../support/cli.js'

describe('the command line', () => {
  it.each([
    [['serve', 'bad.yaml'], 'serve takes no arguments; did you mean --config bad.yaml?'],
    [['run', 'extra'], 'run takes no arguments, and "extra" is one'],
    [['serve', 'foo'], 'serve takes no arguments, and "foo" is one'],
    [['replay', 'foo', '--topic', 'firewall'], 'replay takes no arguments, and "foo" is one'],
    [['demo', 'foo'], 'demo takes no arguments, and "foo" is one'],
  ])('refuses %j, which takes no arguments', async (args, sentence) => {
    expect(await runCli(args)).toEqual({ code: 64, stdout: '', stderr: `threatweave: ${sentence}\n` })
  })
})

describe('an option that would have no effect', () => {
  const replay = ['replay', '--topic', 'firewall', '--from', '1h', '--to', 'now']
  it.each([
    [['estimate', '--list', '--price', '1'], '--price has no effect beside --list; leave one of them out'],
    [['serve', '--new-key', 'soc', '--port', '1'], '--port has no effect beside --new-key; leave one of them out'],
    [['rules', 'check', '--events', 'x'], '--events has no effect on `rules check`; it is for `rules test`'],
    [['check', someFeed, '--print'], '--print has no effect on a rule, a format or a feed; it is for a configuration'],
    [
      [...replay, '--alerts', 'none', '--alerts-output', 'x'],
      '--alerts-output has no effect beside --alerts none; leave it out',
    ],
    [
      [...replay, '--lookups', 'none', '--max-lookups', '5'],
      '--max-lookups has no effect beside --lookups none; leave it out',
    ],
    [['run', '--host', 'localhost'], "Unknown option '--host'; `--help` lists what there is"],
    [['serve', '--workers', '2'], "Unknown option '--workers'; `--help` lists what there is"],
  ])('is refused: %j', async (args, sentence) => {
    const env = { THREATWEAVE_KAFKA_BROKERS: 'localhost:9092' }
    expect(await runCli(args, { env })).toEqual({ code: 64, stdout: '', stderr: `threatweave: ${sentence}\n` })
  })
})

describe('a file that TLS to the brokers needs and that is not there', () => {
  it.each([['run'], ['replay', '--topic', 'firewall', '--from', '1h', '--to', 'now']])(
    'ends %j before it connects',
    async (...args) => {
      const { code, stderr } = await runCli(args, {
        env: {
          THREATWEAVE_KAFKA_BROKERS: 'localhost:9092',
          THREATWEAVE_KAFKA_INPUT_TOPICS: 'firewall',
          THREATWEAVE_KAFKA_OUTPUT_TOPIC: 'annotated',
          THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: 'dead',
          THREATWEAVE_KAFKA_TLS_ENABLED: 'true',
          THREATWEAVE_KAFKA_TLS_CA_FILE: 'nosuch.pem',
        },
      })
      expect(code).toBe(78)
      expect(stderr).toContain("kafka.tls.caFile cannot be read: ENOENT: no such file or directory, open 'nosuch.pem'")
    },
  )
})

const feed = ['--feed', someFeed]

describe('with neither key nor feeds', () => {
  const kafka = {
    THREATWEAVE_KAFKA_BROKERS: 'localhost:9092',
    THREATWEAVE_KAFKA_INPUT_TOPICS: 'firewall',
    THREATWEAVE_KAFKA_OUTPUT_TOPIC: 'annotated',
    THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: 'dead',
  }
  it.each([
    [['run'], 78],
    [['run', '--workers', '2'], 78],
    [['check'], 78],
    [['lookup', 'ip', '198.51.100.60'], 78],
    [['pipe', join(root, 'examples/logs/firewall.log')], 64],
  ])('%j is refused, and names the two ways out', async (args, code) => {
    const ran = await runCli(args, { env: kafka })
    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr).toMatch(/nothing could be known about any event|there is no intelligence to check events with/)
    expect(ran.stderr).toContain('THREATWEAVE_INTEL_SERVICE_API_KEY_FILE=key.txt')
    expect(ran.stderr).toContain('THREATWEAVE_FEEDS=')
  })
})

describe('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends pipe after %s with what came through and a sentence', async (signal, code) => {
    const child = spawn(process.execPath, [cliPath, 'pipe', ...feed], { env: { PATH: process.env.PATH ?? '' } })
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdin.write('src=192.0.2.1 action=deny\n')
    await once(child.stdout, 'data')
    child.kill(signal)
    expect(await once(child, 'close')).toEqual([code, null])
    expect(stderr).toContain('threatweave: stopped after 1 event\n')
  })
})

const toFull = (args: readonly string[]): ReturnType<typeof spawnSync> =>
  spawnSync(process.execPath, [cliPath, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', THREATWEAVE_GATE_DOCUMENTATION: 'true' },
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
  })

describe.runIf(existsSync('/dev/full'))('a full disk', () => {
  const log = join(root, 'examples/logs/firewall.log')
  it.each([
    ['extract', ['extract', log], 'events'],
    ['pipe', ['pipe', '--summary', ...feed, log], 'events'],
    ['serve', ['serve', '--new-key', 'soc'], 'lines'],
    ['help', ['help'], 'lines'],
  ])('is told by %s in a sentence', (_, args, unit) => {
    expect(toFull(args)).toMatchObject({
      status: 1,
      stderr: `threatweave: cannot write to standard output: ENOSPC: no space left on device, write; 0 complete ${unit} written before\n`,
    })
  })

  it('is told of the alerts in a sentence', async () => {
    const { code, stderr } = await runCli(['pipe', ...feed, '--summary', '--alerts', '/dev/full', log], {
      env: { THREATWEAVE_GATE_DOCUMENTATION: 'true' },
    })
    expect(stderr).toContain(
      'threatweave: cannot write the alerts to /dev/full: ENOSPC: no space left on device, write; 0 complete alerts written before\n',
    )
    expect(stderr).not.toContain(' at ')
    expect(code).toBe(1)
  })
})

describe('a message', () => {
  const folder = mkdtempSync(join(tmpdir(), 'command-line-'))
  const cut = join(folder, 'cut.log.gz')
  writeFileSync(cut, gzipSync('src=192.0.2.1\n'.repeat(1000)).subarray(0, 60))

  it.each([
    [['pipe', ...feed, folder], 64, `cannot read the input ${folder}: EISDIR: illegal operation on a directory, read`],
    [['extract', cut], 64, `cannot read the input ${cut}: unexpected end of file`],
    [['pipe', '--colour'], 64, "Unknown option '--colour'; `--help` lists what there is"],
    [['api', 'ip/data'], 64, 'ip/data needs ip: '],
    [['pip'], 64, 'there is no command "pip"; did you mean pipe?'],
    [['help', 'pip'], 64, 'there is no command "pip"; did you mean pipe?'],
    [['pipe', '--max-lookups', '-1'], 64, "Option '--max-lookups' argument is ambiguous; `--help`"],
    [['enrich'], 64, 'there is no command "enrich"; `threatweave --help` lists them'],
    [['pipe', '--sumary'], 64, "Unknown option '--sumary'; did you mean --summary?"],
    [['api', 'ip/sumary'], 64, 'there is no operation "ip/sumary"; did you mean ip/summary?'],
  ])('of %j names what it is about', async (args, code, sentence) => {
    const ran = await runCli(args)
    expect(ran.stderr).toContain(`threatweave: ${sentence}`)
    expect(ran.code).toBe(code)
  })

  it('of --version is the version', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('lets no control character through to a terminal', async () => {
    const file = join(folder, 'evil.yaml')
    writeFileSync(file, '"ev\\e[31mil\\x9b": 1\n')
    const checked = await runCli(['check', '--config', file])
    expect(checked.stderr).toContain('ev?[31mil? is not a setting')
    const piped = await runCli(['pipe', ...feed, 'no\u001b[31msuch'])
    expect(piped.stderr).toContain('cannot read the input no?[31msuch:')
    expect(checked.stderr + piped.stderr).not.toMatch(/[\u001b\u009b]/)
  })
})
