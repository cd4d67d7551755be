import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decode } from '../../../../src/pipeline/decode.js'
import { createExtract } from '../../../../src/pipeline/extract/extract.js'

const settings = { maxIndicators: 64, maxDepth: 64, maxEventBytes: 4_194_304 }
const extract = createExtract(settings)
const found = (text: string, find = extract): string[] =>
  find(decode(Buffer.from(text), settings)).sightings.map(({ value, role }) => `${value} ${role}`)

describe('extract', () => {
  it.each([
    ['an IPv4-mapped address as IPv4', '{"src_ip":"::ffff:203.0.113.1"}', ['203.0.113.1 source']],
    ['an address in brackets with a port', 'from [2001:db8::1]:443', ['2001:db8::1 source']],
    ['an address with a prefix length', '{"src_ip":"192.0.2.1/24"}', ['192.0.2.1 source']],
    ['an address without its zone', '{"src_ip":"fe80::1%eth0"}', ['fe80::1 source']],
    ['the host of a defanged URL', 'see hxxps[:]//bad[.]example[.]com/x', ['bad.example.com url']],
    ['an international name as punycode', '{"query":"BÜCHER.example.com."}', ['xn--bcher-kva.example.com query']],
    ['a name with ideographic dots', '{"query":"bad。example。com"}', ['bad.example.com query']],
    ['a name with full-width and half-width dots', '{"query":"bad．example｡com"}', ['bad.example.com query']],
    ['a name with wide dots in a URL', '{"url":"http://例え。example。com/x"}', ['xn--r8jz45g.example.com url']],
    ['a name with wide dots in a mail address', '{"sender":"a.b@bad。example。org"}', ['bad.example.org mail']],
    ['a name in full-width letters in text', 'see ｂａｄ．ｅｘａｍｐｌｅ．ｃｏｍ now', ['bad.example.com other']],
    ['a URL with wide dots in text', 'see http://bad。example。com/x now', ['bad.example.com url']],
    ['an address in full-width digits', '{"src_ip":"２０３．０．１１３．９"}', ['203.0.113.9 source']],
    ['an address in full-width digits in text', 'from ２０３。０。１１３。９ now', ['203.0.113.9 source']],
    ['an address in front of an ideographic full stop', 'from 203.0.113.9。Closed', ['203.0.113.9 source']],
    ['a reverse name as its address', '{"query":"9.113.0.203.in-addr.arpa"}', ['203.0.113.9 query']],
    ['a URL in the query of another one', '{"cs-uri-query":"to=http://bad.example.com/x"}', ['bad.example.com url']],
    ['the domain of a mail address', '{"sender":"a.b@example.org"}', ['example.org mail']],
    [
      'nested and dotted names alike',
      '{"source":{"ip":"192.0.2.1"},"destination.ip":"192.0.2.2"}',
      ['192.0.2.1 source', '192.0.2.2 destination'],
    ],
    ['a JSON event inside the message', '{"message":"{\\"src_ip\\":\\"192.0.2.1\\"}"}', ['192.0.2.1 source']],
  ])('reads %s', (_, text, expected) => {
    expect(found(text)).toEqual(expected)
  })

  it.each([
    'Chrome/129.0.0.0 Safari/537.36',
    'version 7.0.5.71',
    'at 12:34:56, oid 1.3.6.1.4.1.9',
    'mac 00:11:22:33:44:55 serial 5C:9C:E1:09:78:87:F8:07',
    'saved readme.md and eicar_com.zip',
    'local0.info user.name request.name',
    '登录成功。请稍后。User 版本１．２．３。',
    'rule block-social.media',
    '{"cs-uri-query":"id=7 abca.aspx"}',
    '{"url":{"query":"abca.aspx"}}',
  ])('finds nothing in %j', (text) => {
    expect(found(text)).toEqual([])
  })

  it.each([
    ['json', '{"my_box":"192.0.2.1"}', '"my_box"'],
    ['pairs', 'my_box=192.0.2.1 x=y', 'my_box='],
  ] as const)('gives fields of your own the role that a format says: %s', (cut, line, contains) => {
    const mine = { id: 'mine', cut, contains: [contains], fields: { my_box: 'source.ip' } }
    expect(found(line)).not.toEqual(['192.0.2.1 source'])
    expect(found(line, createExtract({ ...settings, formats: [mine] }))).toEqual(['192.0.2.1 source'])
  })

  it.each(['src=192.0.2.1 spt=1e999', 'src=192.0.2.1 spt=70000', '{"src":"192.0.2.1","src_port":"1e999"}'])(
    'knows no port in %s',
    (line) => {
      expect(extract(decode(Buffer.from(line), settings)).sourcePort).toBe(0)
    },
  )

  it('finds a known field behind ten thousand names and says that something was left out', () => {
    const names = Array.from({ length: 10_000 }, (_, i) => `h${String(i)}.example.com`).join(' ')
    const { sightings, truncated } = extract(
      decode(Buffer.from(JSON.stringify({ note: names, dst: '203.0.113.9' })), settings),
    )
    expect(sightings).toContainEqual(
      expect.objectContaining({
        type: 'ip',
        value: '203.0.113.9',
        field: 'dst',
        role: 'destination',
        evidence: 'field',
      }),
    )
    expect(sightings.length).toBeLessThanOrEqual(64)
    expect(truncated).toBe(true)
  })

  it('reads a member that is called __proto__ and changes nothing by it', () => {
    expect(found('{"__proto__":{"src_ip":"192.0.2.1"}}')).toEqual(['192.0.2.1 source'])
    expect(({} as Record<string, unknown>)['src_ip']).toBeUndefined()
  })

  it('never throws, whatever the bytes are', () => {
    const piece = fc.constantFrom(
      'src=',
      '192.0.2.1',
      '::',
      '[',
      ']',
      '"',
      '{',
      '}',
      'CEF:0|',
      '%ASA-6-302013: ',
      '\\',
      '://',
      '@',
      '<134>',
      ' ',
      ',',
      'a.example.com',
      '\ud800',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece, { maxLength: 40 }).map((parts) => parts.join('')),
        ),
        (text) => {
          extract(decode(Buffer.from(text), settings))
        },
      ),
    )
  })
})
