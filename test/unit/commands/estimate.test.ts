// The `estimate` command.
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Io } from '../../../src/terminal/command.js'
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

  it('says why it asks for fewer names than the log has', async () => {
    const more = `${log}\n{"dns":{"question":{"name":"mail.example.com"}}}`
    expect(await run(more)).toMatch(/^names +2 in this log are asked as 1: by their registrable domains/m)
    expect(await run('{"src_ip":"198.51.100.7"}')).not.toMatch(/^names/m)
  })

  it('suggests gate.ownRanges from the address translation in the log, unless some are set', async () => {
    const nat = '{"src_ip":"10.0.0.5","dst_ip":"198.51.100.7","nat_src_ip":"203.0.113.8"}'
    expect(await run(nat)).toMatch(/^own addresses +address translation shows .+ gate\.ownRanges: \[203\.0\.113\.8\]$/m)
    expect(JSON.parse(await run(nat, { json: true }))).toMatchObject({ ownRangesSuggested: ['203.0.113.8'] })
    expect(await run(log)).toMatch(/^own addresses +gate\.ownRanges is empty: .+ no address translation in this log/m)
    const set = { THREATWEAVE_GATE_OWN_RANGES: '203.0.113.0/24' }
    expect(await run(nat, {}, set)).not.toMatch(/own addresses/)
  })

  it('counts the members of a batch as events', async () => {
    const batch = `{"records":[${log.replaceAll('\n', ',')}]}`
    expect(JSON.parse(await run(batch, { json: true }))).toMatchObject({ events: 3, distinct: 3 })
  })

  it('prints the range of calls and their cost', async () => {
    const out = await run(log, { span: '24', price: '0.5' })
    expect(out).toMatch(/^lookups for this log +3, with an empty memory$/m)
    expect(out).toMatch(/^calls for them +3 to 5: suspicious and malicious indicators cost more calls$/m)
    expect(out).toMatch(/^cost per month +about 45\.00 if everything is clean, 75\.00 at most$/m)
    expect(JSON.parse(await run(log, { span: '24', price: '0.5', json: true }))).toMatchObject({
      lookups: 3,
      callsAtMost: 5,
      costPerMonth: 45,
      costPerMonthAtMost: 75,
    })
  })

  it('counts one call per lookup if the settings allow no second one', async () => {
    const env = { THREATWEAVE_INTEL_IP_OPERATIONS_SUSPICIOUS_INFO: 'never' }
    const out = await run(log, { span: '24', price: '0.5' }, env)
    expect(out).not.toContain('calls for them')
    expect(out).toMatch(/^cost per month +about 45\.00$/m)
  })

  it('says what each operation costs per day, with the choice', async () => {
    const env = {
      THREATWEAVE_INTEL_IP_OPERATIONS_VPN: 'accused',
      THREATWEAVE_INTEL_IP_OPERATIONS_HOSTING: 'always',
      THREATWEAVE_INTEL_DOMAIN_OPERATIONS_REPORTS_PERSONAL: 'always',
    }
    const out = await run(log, { span: '24', price: '0.5' }, env)
    expect(out).toMatch(/^ip\/malicious-info +asked always: 2 for this log, 2 per day$/m)
    expect(out).toMatch(/^ip\/vpn +asked accused: at most 2 for this log, at most 2 per day$/m)
    expect(out).toMatch(/^domain\/reports +asked always: 1 for this log, 1 per day$/m)
    expect(out).toMatch(/^domain\/reports\/personal +asked always: 1 for this log, 144 per day$/m)
    expect(out).toMatch(/^calls for them +5 to 9: /m)
    expect(out).toMatch(/^cost per month +about 75\.00 if everything is clean, 135\.00 at most$/m)
    expect(JSON.parse(await run(log, { span: '24', json: true }, env))).toMatchObject({
      callsAtMost: 9,
      operations: expect.arrayContaining([{ operation: 'ip/vpn', when: 'accused', calls: 2, perDay: 2 }]) as unknown,
    })
  })

  const at = (time: string, place = 1): string => `${time} src=198.51.100.${place} action=deny`

  it('warns if the log covers less than an hour', async () => {
    const short = [at('2026-01-15T08:00:00Z'), at('2026-01-15T08:00:19Z', 2)].join('\n')
    const out = await run(short)
    expect(out).toMatch(/^time covered +19s: less than an hour predicts little/m)
    expect(out).toMatch(/^lookups per month +perhaps /m)
    expect(JSON.parse(await run(short, { json: true }))).toMatchObject({ doubt: 'short' })
    const long = await run([at('2026-01-15T08:00:00Z'), at('2026-01-15T10:00:00Z', 2)].join('\n'))
    expect(long).toMatch(/^lookups per month +about /m)
  })

  it.each([
    ['are years apart', '2008-01-15T08:00:00Z', '2026-01-15T08:00:00Z'],
    ['are in the future', '2026-01-15T08:00:00Z', '2096-01-15T08:00:00Z'],
  ])('predicts nothing from times that %s, and says so', async (words, first, last) => {
    const odd = [at(first), at(last, 2)].join('\n')
    const out = await run(odd)
    expect(out).toMatch(/^per day, per month +the timestamps are /m)
    expect(out).toContain(`${words} (${first.replace('Z', '.000Z')} to ${last.replace('Z', '.000Z')})`)
    expect(out).not.toMatch(/^lookups per month/m)
    expect(await run(odd, { span: '24' })).toMatch(/^lookups per month +about /m)
    expect(JSON.parse(await run(odd, { json: true, price: '1' }))).not.toHaveProperty('costPerMonth')
  })

  it.each(['', 'nothing here', '{"src_ip":"10.0.0.5"}'])(
    'has no hit ratio where nothing is asked: %j',
    async (text) => {
      const out = await run(text, { span: '24' })
      expect(out).toMatch(/^hit ratio +none: nothing in this log would be looked up$/m)
      expect(out).not.toMatch(/^lookups a/m)
    },
  )

  it('counts the events without an indicator to look up', async () => {
    const out = await run([at('2026-01-15T08:00:00Z'), 'nothing here', '{"src_ip":"10.0.0.5"}'].join('\n'))
    expect(out).toMatch(/^events +3, 2 of them without an indicator to look up$/m)
  })
})
