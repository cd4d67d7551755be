// Which records are taken for batches, and where their members are.
import { describe, expect, it } from 'vitest'
import { batchLimits, cutBatch } from '../../../../src/pipeline/batch/cut-batch.js'

const membersOf = (text: string | Buffer): string[] | undefined => {
  const bytes = Buffer.from(text as string)
  return cutBatch(bytes)?.members.map(({ from, to }) => bytes.toString('utf8', from, to))
}

describe('a batch', () => {
  it.each([
    ['an array', '[{"a":1}, {"b":"}"} ]', ['{"a":1}', '{"b":"}"}']],
    ['an array of one', '[{"a":1}]', ['{"a":1}']],
    ['an array after a byte order mark', '\uFEFF [{"a":1}]\n', ['{"a":1}']],
    ['an array with members that are no objects', '["x",{"a":1},[2],null]', ['"x"', '{"a":1}', '[2]', 'null']],
    ['a line each', '{"a":1}\r\n{"b":2}\n\n {"c":3}', ['{"a":1}', '{"b":2}', '{"c":3}']],
    ['a line each, the last one cut off', '{"a":1}\n{"b":', ['{"a":1}', '{"b":']],
    ['records', '{"records": [{"a":1},{"b":2}]}', ['{"a":1}', '{"b":2}']],
    ['Records', '{ "Records":[{"a":1}]}', ['{"a":1}']],
    [
      'CloudWatch',
      '{"messageType":"DATA_MESSAGE","owner":"1","logEvents":[{"id":"1","message":"x"},{"id":"2"}]}',
      ['{"id":"1","message":"x"}', '{"id":"2"}'],
    ],
    [
      'OpenTelemetry',
      '{"resourceLogs":[{"resource":{},"scopeLogs":[{"logRecords":[{"a":1}]},{"logRecords":[{"b":2}]}]},{"scopeLogs":[{"logRecords":[{"c":3}]}]}]}',
      ['{"a":1}', '{"b":2}', '{"c":3}'],
    ],
    [
      'a list under a name in another spelling',
      '{"records":[{"a":1}],"rec\\u006frds":[{"b":2}]}',
      ['{"a":1}', '{"b":2}'],
    ],
  ])('is %s', (_, text, members) => {
    expect(membersOf(text)).toEqual(members)
  })

  it.each([
    ['an object', '{"a":1}'],
    ['an object over several lines', '{"a":{\n"b":1}\n,"c":{}\n}\n'],
    ['an object and a line of text', '{"a":1}\nstack trace'],
    ['text', '[INFO] hello\n[WARN] there]'],
    ['an array without objects', '["198.51.100.7",1]'],
    ['an empty array', '[]'],
    ['an empty list', '{"records":[]}'],
    ['records that are no list', '{"records":{"a":1}}'],
    ['an event that has a list of records', '{"records":[{"a":1}],"src_ip":"198.51.100.7"}'],
    ['an array that is cut off', '[{"a":1},{"b":'],
    ['an array with something behind it', '[{"a":1}] ]'],
    ['an array of broken JSON', '[{"a":1},{"b":tru}]'],
    ['an array that is not UTF-8', Buffer.from([0x5b, 0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d, 0x5d])],
    ['nothing', ''],
    ['blanks', ' \n '],
    ['an array nested without end', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['an array of what is nested without end', `[{"a":${'['.repeat(5000)}${']'.repeat(5000)}}]`],
  ])('is not %s', (_, text) => {
    expect(membersOf(text)).toBeUndefined()
  })

  it('past the limit has one last member that is all the rest', () => {
    const count = batchLimits.maxMembers + 5
    const bytes = Buffer.from(`[${Array.from({ length: count }, (_, nth) => `{"n":${nth}}`).join(',')}]`)
    const batch = cutBatch(bytes)
    expect(batch).toMatchObject({ count })
    expect(batch?.members).toHaveLength(batchLimits.maxMembers + 1)
    const { from = 0, to = 0 } = batch?.members.at(-1) ?? {}
    expect(bytes.toString('utf8', from, to)).toBe('{"n":10000},{"n":10001},{"n":10002},{"n":10003},{"n":10004}')
  })
})
