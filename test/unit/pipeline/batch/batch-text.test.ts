// What is said of a batch in one place: in a header, in a topic of its own, or where no member has room.
import { describe, expect, it } from 'vitest'
import type { Status } from '../../../../src/domain/annotation.js'
import type { Level } from '../../../../src/domain/finding.js'
import type { EventOut } from '../../../../src/pipeline/event.js'
import { createJoinBatch } from '../../../../src/pipeline/batch/join-batch.js'
import { outcomeOfMembers } from '../../../../src/pipeline/batch/batch-text.js'
import { expectValidAnnotation } from '../../../support/annotation-schema.js'

const member = (nth: number, verdict: Level, reading = 'json', status: Status = 'complete'): EventOut => {
  const malicious =
    verdict === 'malicious' ? { malicious: true, type: 'ip', value: '198.51.100.7', role: 'source' } : {}
  const annotation = {
    schema_version: 1,
    status,
    verdict,
    ...malicious,
    direction: 'unknown',
    action: 'unknown',
    enrichment_id: `in/0/1#${nth}`,
  }
  const annotationText = (): string => JSON.stringify({ ...annotation, pad: 'x'.repeat(300) })
  const bytes = (): Buffer => Buffer.from(`{"n":${nth},"threatweave":${JSON.stringify(annotation)}}`)
  return { annotation, annotationText, bytes, verdict, status, event: { reading }, judged: [] } as unknown as EventOut
}

const joined = (members: readonly EventOut[], count = members.length): EventOut => {
  const texts = members.map((_, nth) => `{"n":${nth}}`)
  const bytes = Buffer.from(`[${texts.join(',')}]`)
  let from = 1
  const ranges = texts.map((text) => ({ from, to: (from += text.length + 1) - 1 }))
  const join = createJoinBatch({ key: 'threatweave', onExisting: 'replace' })
  return join({ bytes, origin: 'in/0/1' }, { members: ranges, count, place: 'member' }, members)
}

type Text = { readonly members?: readonly { readonly member: number }[]; readonly members_omitted?: number }
const parse = (text: string | undefined): Text => JSON.parse(text ?? '{}') as Text

describe('the text about a batch', () => {
  const levels: readonly Level[] = Array.from({ length: 1000 }, (_, nth) =>
    nth === 7 || nth === 900 ? 'malicious' : nth === 3 ? 'suspicious' : 'clean',
  )
  const batch = joined(levels.map((level, nth) => member(nth, level)))

  it('is the worst member, the counts and a bounded list by index, in which the accused come first', () => {
    const text = batch.annotationText()
    expect(parse(text)).toMatchObject({
      verdict: 'malicious',
      malicious: true,
      member: 7,
      member_count: 1000,
      malicious_members: 2,
      suspicious_members: 1,
      clean_members: 997,
      unknown_members: 0,
      accused_members: [3, 7, 900],
      enrichment_id: 'in/0/1',
    })
    const { members = [], members_omitted = 0 } = parse(text)
    expect(members.map((one) => one.member)).toEqual([...Array(members.length - 1).keys(), 900])
    expect(members.length + members_omitted).toBe(1000)
    expect(text.length).toBeLessThan(17_500)
    expect(batch.annotationText('compact').length).toBeLessThan(5_200)
  })

  it('lists only the accused when there is less room, and none but their indexes when there is hardly any', () => {
    expect(parse(batch.annotationText('accused')).members?.map((one) => one.member)).toEqual([3, 7, 900])
    const worst = batch.annotationText('worst')
    expect(parse(worst)).toMatchObject({ verdict: 'malicious', accused_members: [3, 7, 900] })
    expect(parse(worst).members).toBeUndefined()
    expectValidAnnotation(parse(worst))
  })

  it('stands beside the bytes only for what has no place in them', () => {
    expect(batch.beside?.()).toBeUndefined()
    expect(parse(batch.beside?.('accused'))).toMatchObject({ member_count: 1000, accused_members: [3, 7, 900] })
    const mixed = joined([
      member(0, 'clean'),
      member(1, 'malicious', 'json_scalar'),
      member(2, 'unknown', 'text', 'skipped'),
    ])
    expect(parse(mixed.beside?.()).members?.map((one) => one.member)).toEqual([1])
    expect(mixed.bytes().toString()).toMatch(/^\[\{"n":0,"threatweave":\{.*\}\},\{"n":1\},\{"n":2\}\]$/)
  })

  it('names the true count of a batch past the limit, whose last member is all the others', () => {
    expect(parse(joined([member(0, 'clean'), member(1, 'clean', 'broken_json')], 500).beside?.())).toMatchObject({
      member_count: 500,
      members: [{ member: 1 }],
    })
  })

  it('annotates only accused members when there is no room for all', () => {
    const text = batch.bytes('accused').toString()
    expect(text.match(/"threatweave"/g)).toHaveLength(3)
    expect(text.replace(/,"threatweave":\{[^}]*\}/g, '')).toBe(batch.bytes('worst').toString())
  })
})

describe('the outcome of a batch', () => {
  it.each([
    [['clean', 'clean'], ['complete', 'complete'], 'complete', 0],
    [['clean', 'unknown'], ['complete', 'failed'], 'partial', 1],
    [['unknown', 'clean'], ['skipped', 'complete'], 'complete', 1],
    [['unknown', 'unknown'], ['failed', 'skipped'], 'failed', 0],
    [['unknown', 'unknown'], ['skipped', 'skipped'], 'skipped', 0],
    [['suspicious', 'malicious'], ['partial', 'complete'], 'partial', 1],
  ] as const)('of %j, %j is %s, decided by member %i', (verdicts, statuses, status, worst) => {
    const members = verdicts.map((verdict, nth) => ({ verdict, status: statuses[nth] as Status }))
    expect(outcomeOfMembers(members)).toMatchObject({ status, worst })
  })
})
