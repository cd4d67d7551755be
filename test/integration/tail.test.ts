// Promise: `tail` shows the annotated events of a topic that its filters ask for, in order, and commits nothing.
import { spawnSync } from 'node:child_process'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { cliPath } from '../support/cli.js'
import { client, makeTopics, type Names } from '../support/kafka.js'
import { runLoaded } from '../support/loaded-program.js'

const event = (nth: number, verdict: string, more: object = {}): string =>
  JSON.stringify({
    message: `line ${nth} src=198.51.100.${nth}`,
    threatweave: { schema_version: 1, status: 'complete', verdict, direction: 'inbound', action: 'allowed', ...more },
  })

describe('tail', () => {
  let names: Names
  const shown = async (...args: string[]): Promise<readonly string[]> => {
    const { code, stdout, stderr } = await runLoaded(['tail', '--from', 'earliest', ...args], {
      env: {
        THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
        THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
      },
    })
    expect(stderr).toBe('')
    expect(code).toBe(0)
    return stdout.trimEnd().split('\n')
  }

  beforeAll(async () => {
    names = await makeTopics({ partitions: 1 })
    const producer = client().producer()
    await producer.connect()
    const values = [
      event(1, 'clean'),
      event(2, 'malicious', {
        value: '198.51.100.2',
        role: 'source',
        threat_class: 'serious',
        summary: 'src 198.51.100.2 is malicious: \u001b[2J',
      }),
      event(3, 'unknown', { reason: 'pending' }),
      'no annotated event',
      event(4, 'suspicious', { value: '198.51.100.4', summary: 'src 198.51.100.4 is suspicious' }),
      event(45, 'clean'),
      `{\n "id": 12345678901234567890, "a": "198.51.100.78, 198.51.100.7", "threatweave": { "verdict": "clean", "direction": "inbound", "action": "allowed" } }`,
      `[${event(81, 'clean')}, ${event(82, 'malicious', { value: '198.51.100.82' })}]`,
      `{"sourcetype":"fw","event":"line 91","fields":{"threatweave.verdict":"malicious","threatweave.value":"198.51.100.91","threatweave.direction":"inbound","threatweave.action":"blocked"}}`,
    ]
    await producer.send({ topic: names.output, messages: values.map((value) => ({ value })) })
    await producer.disconnect()
  })

  it('shows every annotated event on one line, without its control characters', async () => {
    const lines = await shown('--count', '5')
    expect(lines.map((line) => line.slice(10).split(/ {2,}/).slice(0, 3).join(' '))).toEqual([
      'clean inbound allowed',
      'malicious inbound allowed',
      'unknown inbound allowed',
      'suspicious inbound allowed',
      'clean inbound allowed',
    ])
    expect(lines[1]).toContain('src 198.51.100.2 is malicious: ?[2J  | line 2 src=198.51.100.2')
  })

  it('shows what the filters ask for', async () => {
    expect(await shown('--count', '2', '--verdict', 'malicious,suspicious')).toHaveLength(2)
    expect((await shown('--count', '1', '--reason', 'pending'))[0]).toContain('| line 3')
    expect((await shown('--count', '1', '--value', '198.51.100.45'))[0]).toContain('| line 45')
    expect((await shown('--count', '1', '--value', '198.51.100.82'))[0]).toMatch(/malicious.*\| line 82/)
    expect((await shown('--count', '1', '--value', '198.51.100.91'))[0]).toMatch(/malicious.*blocked.*\| line 91/)
    expect((await shown('--count', '1', '--rule', 'malicious address was let in'))[0]).toContain('| line 2')
  })

  it('ends quietly when who reads has enough', async () => {
    const { output } = await makeTopics({ partitions: 1 })
    const producer = client().producer()
    await producer.connect()
    // More than a pipe holds, so that it is noticed that nobody reads any more.
    const messages = Array.from({ length: 2000 }, (_, nth) => ({ value: event(nth % 250, 'clean') }))
    await producer.send({ topic: output, messages })
    await producer.disconnect()
    const command = `"${process.execPath}" "${cliPath}" tail --from earliest --json | head -n 1`
    const { stdout, stderr, status } = spawnSync('bash', ['-o', 'pipefail', '-c', command], {
      encoding: 'utf8',
      timeout: 600_000,
      env: {
        ...process.env,
        THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
        THREATWEAVE_KAFKA_OUTPUT_TOPIC: output,
      },
    })
    expect({ lines: stdout.trimEnd().split('\n').length, stderr, status }).toEqual({ lines: 1, stderr: '', status: 0 })
  })

  it('prints the events as they are, and refuses what it cannot mean', async () => {
    expect(JSON.parse((await shown('--count', '1', '--json'))[0] ?? '')).toMatchObject({
      message: 'line 1 src=198.51.100.1',
    })
    // As it is: no number is rounded; and on one line.
    expect((await shown('--count', '1', '--json', '--value', '198.51.100.7'))[0]).toMatch(
      /^\{ +"id": 12345678901234567890, /,
    )
    expect((await runLoaded(['tail', '--topic', 'x', '--verdict', 'bad'])).stderr).toContain(
      'malicious, suspicious, clean, unknown',
    )
    const missing = await runLoaded(['tail', '--topic', 'no-such-topic'], {
      env: { THREATWEAVE_KAFKA_BROKERS: inject('broker').plain },
    })
    expect(missing).toMatchObject({ code: 1, stderr: 'threatweave: topic no-such-topic does not exist\n' })
  })

  it('is explained by its place: what was read, and the annotation that was written with it', async () => {
    const explain = (...args: string[]) =>
      runLoaded(['explain', ...args], { env: { THREATWEAVE_KAFKA_BROKERS: inject('broker').plain } })
    const { code, stdout } = await explain('--json', `${names.output}/0/1`)
    expect(JSON.parse(stdout)).toMatchObject({
      indicators: [{ value: '198.51.100.2', role: 'source' }],
      annotation: { verdict: 'malicious', value: '198.51.100.2' },
    })
    expect(code).toBe(0)
    const member = JSON.parse((await explain('--json', `${names.output}/0/7#1`)).stdout) as object
    expect(member).toMatchObject({ indicators: [{ value: '198.51.100.82' }], annotation: { verdict: 'malicious' } })
    expect(await explain(`${names.output}/0/99`)).toMatchObject({
      code: 1,
      stderr: `threatweave: ${names.output}/0 holds the offsets 0 to 8, not 99\n`,
    })
    expect(await explain(`${names.output}/5/0`)).toMatchObject({
      stderr: expect.stringContaining('no partition 5') as string,
    })
  })
})
