import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decode } from '../../../src/pipeline/decode.js'

const limits = { maxEventBytes: 1024 }
const read = (text: string | Buffer) => decode(Buffer.from(text as string), limits)

describe('decode', () => {
  it.each([
    ['a JSON object', '{"a":1}', 'json'],
    ['an object between blanks', '  {"a":1} \r', 'json'],
    ['a line of text', 'Deny tcp src 192.0.2.1', 'text'],
    ['a line that begins with a bracket', '[INFO] 192.0.2.1', 'text'],
    ['an object that is not closed', '{"a":1', 'broken_json'],
    ['a list', '[1,2]', 'json_array'],
    ['a list that is not one', '[1,2,]', 'broken_json'],
    ['a number', '42', 'json_scalar'],
    ['a string', '"text"', 'json_scalar'],
    ['nothing', '', 'empty'],
    ['blanks', ' \t ', 'empty'],
    ['an object of any size', `{"a":"${'x'.repeat(2000)}"}`, 'json'],
    ['more than the limit that is no object', `{"a":"${'x'.repeat(2000)}"`, 'too_large'],
    ['more text than the limit', 'x'.repeat(2000), 'too_large'],
  ])('reads %s', (_, text, reading) => {
    expect(read(text).reading).toBe(reading)
  })

  it('reads bytes that are no UTF-8 as far as they can be read', () => {
    const event = read(Buffer.from([0x73, 0x72, 0x63, 0x3d, 0xff, 0x31]))
    expect(event.reading).toBe('not_utf8')
    expect(event.text).toContain('src=')
  })

  it('takes a byte order mark off the text and says so', () => {
    const event = read('\uFEFF{"a":1}')
    expect(event).toMatchObject({ bom: true, reading: 'json', text: '{"a":1}', value: { a: 1 } })
  })

  it('keeps the bytes it was given', () => {
    const bytes = Buffer.from('{"a":12345678901234567890}')
    expect(decode(bytes, limits).bytes).toBe(bytes)
  })

  it('never throws, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2048 }), (bytes) => {
        decode(Buffer.from(bytes), limits)
      }),
    )
  })
})
