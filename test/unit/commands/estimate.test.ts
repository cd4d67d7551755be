// The `estimate` command as it is typed.
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Io } from '../../../src/commands/command.js'
import { estimate } from '../../../src/commands/estimate.js'

const run = async (input: string, values: Record<string, unknown> = {}, env: Record<string, string> = {}) => {
  const stdout = new PassThrough()
  const io = {
    stdin: Readable.from([Buffer.from(input)]),
    stdout,
    stderr: new PassThrough(),
    env: { THREATWEAVE_GATE_DOCUMENTATION: 'true', ...env },
    signal: new AbortController().signal,
  } as unknown as Io
  const code = await estimate.run({ positionals: [], values } as unknown as Parameters<typeof estimate.run>[0], io)
  expect(code).toBe(0)
  return (stdout.read() as Buffer | null)?.toString() ?? ''
}

const log = [
  '{"src_ip":"2001:db8:4700::1111","dst_ip":"10.0.0.5"}',
  '{"src_ip":"198.51.100.7","dst_ip":"10.0.0.5","dns":{"question":{"name":"www.bad.example.com"}}}',
  '{"src_ip":"198.51.100.7","dst_ip":"10.0.0.6"}',
].join('\n')

describe('estimate', () => {
  it('lists exactly the values that would leave', async () => {
    expect((await run(log, { list: true })).trimEnd().split('\n')).toEqual([
      '2001:db8:4700::1111',
      '198.51.100.7',
      'example.com',
    ])
  })

  it('says how many calls the lookups may come to, and what that costs', async () => {
    const out = await run(log, { span: '24', price: '0.5' })
    expect(out).toMatch(/^lookups for this log +3, starting with an empty memory$/m)
    expect(out).toMatch(/^calls for them +3 to 5: what is not plainly clean is asked about once more$/m)
    expect(out).toMatch(/^cost a month +about 45\.00 if all is clean, 75\.00 at most$/m)
    expect(JSON.parse(await run(log, { span: '24', price: '0.5', json: true }))).toMatchObject({
      lookups: 3,
      callsAtMost: 5,
      costPerMonth: 45,
      costPerMonthAtMost: 75,
    })
  })

  it('knows which settings ask once only', async () => {
    const env = { THREATWEAVE_INTEL_IP_ESCALATE: 'false', THREATWEAVE_INTEL_DOMAIN_REPORT: 'never' }
    const out = await run(log, { span: '24', price: '0.5' }, env)
    expect(out).not.toContain('calls for them')
    expect(out).toMatch(/^cost a month +about 45\.00$/m)
  })
})
