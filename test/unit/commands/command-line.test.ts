// What all commands have in common: arguments, exit codes, messages.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { root, someFeed } from '../../support/cli.js'
import { runCommand } from '../../support/run-command.js'

describe('the command line', () => {
  it.each([
    [['serve', 'bad.yaml'], 'serve takes no arguments; did you mean --config bad.yaml?'],
    [['run', 'extra'], 'run takes no arguments, and "extra" is one'],
    [['serve', 'foo'], 'serve takes no arguments, and "foo" is one'],
    [['replay', 'foo', '--topic', 'firewall'], 'replay takes no arguments, and "foo" is one'],
  ])('refuses %j, which takes no arguments', async (args, sentence) => {
    expect(await runCommand(args)).toEqual({ code: 64, stdout: '', stderr: `threatweave: ${sentence}\n` })
  })
})

describe('an option that would have no effect', () => {
  const replay = ['replay', '--topic', 'firewall', '--from', '1h', '--to', 'now']
  it.each([
    [['estimate', '--list', '--price', '1'], '--price has no effect with --list; remove one of them'],
    [['serve', '--new-key', 'soc', '--port', '1'], '--port has no effect with --new-key; remove one of them'],
    [['rules', 'check', '--events', 'x'], '--events applies only to `rules test`, not to `rules check`'],
    [['check', someFeed, '--print'], '--print applies only to a configuration, not to a rule, a format or a feed'],
    [
      [...replay, '--alerts', 'none', '--alerts-output', 'x'],
      '--alerts-output has no effect with --alerts none; remove it',
    ],
    [
      [...replay, '--lookups', 'none', '--max-lookups', '5'],
      '--max-lookups has no effect with --lookups none; remove it',
    ],
    [['run', '--host', 'localhost'], "Unknown option '--host'; run has --config, --workers, --help"],
    [['run', '-x'], "Unknown option '-x'; run has --config, --workers, --help"],
  ])('is refused: %j', async (args, sentence) => {
    const env = { THREATWEAVE_KAFKA_BROKERS: 'localhost:9092' }
    expect(await runCommand(args, { env })).toEqual({ code: 64, stdout: '', stderr: `threatweave: ${sentence}\n` })
  })
})

describe('a file that TLS to the brokers needs and that is not there', () => {
  it.each([['run'], ['replay', '--topic', 'firewall', '--from', '1h', '--to', 'now']])(
    'ends %j before it connects',
    async (...args) => {
      const { code, stderr } = await runCommand(args, {
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
    const ran = await runCommand(args, { env: kafka })
    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr).toMatch(/there is no source of verdicts/)
    expect(ran.stderr).toContain('THREATWEAVE_INTEL_SERVICE_API_KEY_FILE=key.txt')
    expect(ran.stderr).toContain('THREATWEAVE_FEEDS=')
  })
})

describe('a message', () => {
  const folder = mkdtempSync(join(tmpdir(), 'command-line-'))
  const cut = join(folder, 'cut.log.gz')
  writeFileSync(cut, gzipSync('src=192.0.2.1\n'.repeat(1000)).subarray(0, 60))

  it.each([
    [['pipe', ...feed, folder], 64, `cannot read the input ${folder}: EISDIR: illegal operation on a directory, read`],
    [['extract', cut], 64, `cannot read the input ${cut}: unexpected end of file`],
    [['pipe', '--colour'], 64, "Unknown option '--colour'; pipe has --config, "],
    [['api', 'ip/data'], 64, 'ip/data needs ip: '],
    [['pip'], 64, 'there is no command "pip"; did you mean pipe?'],
    [['help', 'pip'], 64, 'there is no command "pip"; did you mean pipe?'],
    [['pipe', '--max-lookups', '-1'], 64, "Option '--max-lookups' argument is ambiguous; `--help`"],
    [['enrich'], 64, 'there is no command "enrich"; `threatweave --help` lists them'],
    [['pipe', '--sumary'], 64, "Unknown option '--sumary'; did you mean --summary? pipe has --config, "],
    [['api', 'ip/sumary'], 64, 'there is no operation "ip/sumary"; did you mean ip/summary?'],
  ])('of %j names what it is about', async (args, code, sentence) => {
    const ran = await runCommand(args)
    expect(ran.stderr).toContain(`threatweave: ${sentence}`)
    expect(ran.code).toBe(code)
  })

  it('of --version is the version', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    expect(await runCommand(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('lets no control character through to a terminal', async () => {
    const file = join(folder, 'evil.yaml')
    writeFileSync(file, '"ev\\e[31mil\\x9b": 1\n')
    const checked = await runCommand(['check', '--config', file])
    expect(checked.stderr).toContain('ev?[31mil? is not a setting')
    const piped = await runCommand(['pipe', ...feed, 'no\u001b[31msuch'])
    expect(piped.stderr).toContain('cannot read the input no?[31msuch:')
    expect(checked.stderr + piped.stderr).not.toMatch(/[\u001b\u009b]/)
  })
})
