// The `check` command.
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { beforeAll, describe, expect, it } from 'vitest'
import { check } from '../../../src/commands/check.js'
import type { Io } from '../../../src/terminal/command.js'
import { ConfigurationError } from '../../../src/config/problem.js'
import { runCommand } from '../../support/run-command.js'

const folder = mkdtempSync(join(tmpdir(), 'check-'))
const put = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** What `check` says of a configuration: nothing where it is fine. */
const problemsOf = async (text: string, env: Record<string, string> = withFeed): Promise<string[]> => {
  const io: Io = {
    env,
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    signal: new AbortController().signal,
  }
  try {
    await check.run({ positionals: [], values: { config: put('threatweave.yaml', text) } }, io)
    return []
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message.split('\n')
    throw error
  }
}

const withFeed = { THREATWEAVE_FEEDS: JSON.stringify([{ name: 'mine', path: put('feed.txt', 'bad.example.com\n') }]) }
const missing = "cannot be read: ENOENT: no such file or directory, open 'nosuch'"
const withKey = 'intel: { service: { apiKey: sample-key, '

describe('check', () => {
  beforeAll(() => {
    put('broken.yml', 'title: Broken\n')
    put('keys.json', '{"keys": [{"name": "a b", "hash": "x"}]}')
    put('empty', '\n')
    put('no.pem', 'nothing of the kind')
  })

  it('accepts a configuration with only a feed', async () => {
    expect(await problemsOf('')).toEqual([])
  })

  it('warns of a file with a key that every user can read, and of no other', async () => {
    const warned = async (mode: number): Promise<string> => {
      const file = put('key', 'sample-key-that-is-long')
      chmodSync(file, mode)
      const stderr = new PassThrough()
      const env = { THREATWEAVE_INTEL_SERVICE_API_KEY_FILE: file }
      const signal = new AbortController().signal
      await check.run(
        { positionals: [], values: {} },
        { env, stdin: new PassThrough(), stdout: new PassThrough(), stderr, signal },
      )
      return String(stderr.read() ?? '')
    }
    expect(await warned(0o644)).toMatch(
      /^threatweave: warning: intel.service.apiKey .+ every user of this machine can read/,
    )
    expect(await warned(0o640)).toBe('')
  })

  it.each([
    ['', 'An address costs 1 to 2 calls, a name 1 call. The daily budget of 1,000 calls allows 500 to 1,000 lookups. '],
    ['admit: { perDay: unlimited }\n', 'An address costs 1 to 2 calls, a name 1 call. `threatweave estimate`'],
    [
      'intel: { ip: { operations: { hosting: always, vpn: accused } }, domain: { operations: { reports/personal: always } } }\n',
      'An address costs 2 to 4 calls, a name 1 call, and the list of own scans 144 calls a day. The daily budget of 1,000 calls allows 250 to 1,000 lookups. ',
    ],
  ])('says what a lookup costs: %j', async (text, expected) => {
    const { stdout } = await runCommand(['check', '-c', put('cost.yaml', `gate: {}\n${text}`)], {
      env: { THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key-that-is-long' },
    })
    expect(stdout).toContain(expected)
  })

  it('wants one operation that is always asked', async () => {
    const { stderr } = await runCommand(
      ['check', '-c', put('never.yaml', 'intel: { ip: { operations: { malicious-info: unclean } } }\n')],
      { env: { THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key-that-is-long' } },
    )
    expect(stderr).toContain('intel.ip.operations needs at least one operation set to always')
  })

  it('says what follows from an empty gate.ownRanges, where events are read', async () => {
    const noted = async (ranges: string): Promise<string> => {
      const stderr = new PassThrough()
      const config = put(
        'run.yaml',
        `gate: { ownRanges: [${ranges}] }\nkafka: { brokers: [localhost:9092], input: { topics: [fw] }, output: { topic: out }, deadLetterTopic: dead }\n`,
      )
      await check.run(
        { positionals: [], values: { config } },
        {
          env: { THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key-that-is-long' },
          stdin: new PassThrough(),
          stdout: new PassThrough(),
          stderr,
          signal: new AbortController().signal,
        },
      )
      return String(stderr.read() ?? '')
    }
    expect(await noted('')).toMatch(/^threatweave: note: gate\.ownRanges is empty: .+ estimate suggests ranges/)
    expect(await noted('203.0.113.0/24')).toBe('')
  })

  it('names each problem of a judgement table once, with its file and line', async () => {
    const table = put('table.yaml', 'rows:\n  dangerous: { level: bad }\n')
    expect(await problemsOf(`intel: { table: ${table} }`)).toEqual([
      `intel.table: rows.dangerous.level must be one of malicious, suspicious, clean, flag (${table}:2)`,
    ])
    expect(await problemsOf('intel: { table: nosuch }')).toEqual([`intel.table ${missing}`])
  })

  it('refuses settings with neither key nor feeds, as `run` does, and names the two ways out', async () => {
    const lack =
      'intel.service.apiKey and feeds are both empty, so there is no source of verdicts: set ' +
      "a key (THREATWEAVE_INTEL_SERVICE_API_KEY_FILE=key.txt) or a feed (THREATWEAVE_FEEDS='[{name: mine, path: list.txt}]')"
    expect(await problemsOf('', {})).toEqual([lack])
    expect(await problemsOf('serve: { apiKey: change-me-please }', {})).toEqual([])
    expect(await problemsOf('feeds: [{ name: mine, path: x, level: bad }]', {})).not.toContain(lack)
  })

  it.each([
    [
      'alerts: { rules: [nosuch/] }',
      ["alerts.rules nosuch/: cannot be read: ENOENT: no such file or directory, stat 'nosuch/'"],
    ],
    [
      `${withKey}baseUrl: http://intel.example.com } }`,
      ['intel.service.baseUrl must be https; intel.service.allowHttp permits sending the key unencrypted'],
    ],
    [
      `${withKey}baseUrl: https://user:word@intel.example.com } }`,
      ['intel.service.baseUrl must not contain a password'],
    ],
    [`${withKey}caFile: nosuch } }`, [`intel.service.caFile ${missing}`]],
    [
      'intel: { service: { apiKey: "two words", caFile: nosuch, baseUrl: ftp://intel.example.com } }',
      [
        `intel.service.caFile ${missing}`,
        'intel.service.baseUrl must be https',
        'intel.service.apiKey contains characters that are not allowed in a header',
      ],
    ],
    [
      'intel: { service: { apiKey: "two\\nlines" } }',
      ['intel.service.apiKey contains characters that are not allowed in a header'],
    ],
    [
      'intel: { service: { apiKey: schlüssel } }',
      ['intel.service.apiKey contains characters that are not allowed in a header'],
    ],
    ['serve: { keysFile: nosuch }', [`serve.keysFile ${missing}`]],
    ['serve: { data: nosuch }', ['serve.data is not a folder: nosuch']],
    [
      'serve: { tls: { certFile: nosuch } }',
      [`serve.tls.certFile ${missing}`, 'serve.tls.keyFile and serve.tls.certFile must be set together'],
    ],
    [
      'serve: { upstream: https://intel.example.com }',
      ['intel.service.apiKey is needed by a gateway: its own key at the provider'],
    ],
    [
      `serve: { upstream: http://intel.example.com }\n${withKey} } }`,
      ['serve.upstream must be https; intel.service.allowHttp permits sending the key unencrypted'],
    ],
    [
      'kafka: { tls: { enabled: true, caFile: nosuch, certificateFile: nosuch, keyFile: nosuch } }',
      [`kafka.tls.caFile ${missing}`, `kafka.tls.certificateFile ${missing}`, `kafka.tls.keyFile ${missing}`],
    ],
    ['kafka: { sasl: { mechanism: plain } }', ['kafka.sasl.username and sasl.password are needed for plain']],
    ['kafka: { sasl: { mechanism: oauthbearer, tokenFile: nosuch } }', [`kafka.sasl.tokenFile ${missing}`]],
    [
      'kafka: { sasl: { mechanism: oauthbearer, tokenUrl: "http://login.example.com", tokenCaFile: nosuch } }',
      [
        'kafka.sasl.tokenUrl must be https; sasl.allowHttp permits sending secret and token unencrypted',
        'kafka.sasl.clientId and sasl.clientSecret are needed for sasl.tokenUrl',
        `kafka.sasl.tokenCaFile ${missing}`,
      ],
    ],
    [
      'kafka: { brokers: ["kafka.example.com:9092"] }',
      [
        'kafka.input.topics must name a topic to read, or input.pattern describe some',
        'kafka.output.topic must name the topic to write',
      ],
    ],
  ])('refuses %j as the command would that uses it', async (text, problems) => {
    expect(await problemsOf(text)).toEqual(problems)
  })

  it.each([
    [`alerts: { rules: [${join(folder, 'broken.yml')}] }`, 'alerts.rules', 'broken.yml'],
    [`serve: { keysFile: ${join(folder, 'keys.json')} }`, 'serve.keysFile is refused:', 'name must be 1 to 64 letters'],
    [
      `serve: { tls: { certFile: ${join(folder, 'no.pem')}, keyFile: ${join(folder, 'no.pem')} } }`,
      'serve.tls has files that cannot be used:',
      'no start line',
    ],
    [
      `kafka: { tls: { enabled: true, caFile: ${join(folder, 'no.pem')} } }`,
      'kafka.tls.caFile',
      'contains no PEM certificate',
    ],
    [
      `admit: { perDay: 10 }\nmemory: { path: ${join(folder, 'no.pem', 'memory')} }`,
      'memory.path cannot be used, and admit.perHour and admit.perDay are counted there:',
      'no.pem is not a folder',
    ],
    ['kafka: { brokers: ["kafka.example.com:99999"] }', 'kafka.brokers.0', ''],
  ])('refuses what the files of %j hold', async (text, setting, words) => {
    const [problem] = await problemsOf(text)
    expect(problem).toContain(setting)
    expect(problem).toContain(words)
  })

  it('says that the file of a secret is empty', async () => {
    expect(await problemsOf('', { THREATWEAVE_INTEL_SERVICE_API_KEY_FILE: join(folder, 'empty') })).toEqual([
      'intel.service.apiKey THREATWEAVE_INTEL_SERVICE_API_KEY_FILE names a file that is empty',
    ])
  })

  it.each([
    ['planted-key-in-the-wrong-place', 'does not exist'],
    ['k'.repeat(5000), 'cannot be read: ENAMETOOLONG'],
    [folder, 'cannot be read: EISDIR'],
  ])('does not repeat what was pasted where the file of a secret is meant', async (value, words) => {
    expect(await problemsOf('', { THREATWEAVE_INTEL_SERVICE_API_KEY_FILE: value })).toEqual([
      `intel.service.apiKey THREATWEAVE_INTEL_SERVICE_API_KEY_FILE names a file that ${words}`,
    ])
  })

  it('names the problems of files beside those of the settings themselves', async () => {
    const text = [
      'admit: { perDay: -1 }',
      'colour: red',
      'kafka: { brokers: nonsense, sasl: { mechanism: plain } }',
      'feeds: [{ name: one, path: nosuch, format: odd }]',
      'serve: { keysFile: nosuch }',
    ].join('\n')
    const problems = await problemsOf(text, {})
    const settings = problems.map((problem) => problem.split(' ')[0])
    expect(settings.sort()).toEqual([
      'admit.perDay',
      'colour',
      'feeds.0',
      'feeds.0.format',
      'kafka.brokers',
      'kafka.sasl.username',
      'serve.keysFile',
    ])
  })

  it('does not let a list with a wrong entry hide the rest', async () => {
    const problems = await problemsOf('feeds: [{ path: nosuch }]\nserve: { keysFile: nosuch }')
    expect(problems.some((problem) => problem.startsWith('serve.keysFile'))).toBe(true)
  })
})
