// The client of a request is found in access lines of any shape.
import { describe, expect, it } from 'vitest'
import { openFormats } from '../../../../src/app/open-formats.js'
import { decode, decodeLimits } from '../../../../src/pipeline/decode.js'
import { createExtract, extractLimits } from '../../../../src/pipeline/extract/extract.js'

const extract = createExtract({ ...extractLimits, formats: openFormats([]).formats })
const read = (line: string) => extract(decode(Buffer.from(line), decodeLimits))

describe('a line about a request', () => {
  it.each([
    [
      'with the host before the client',
      'www.example.com 203.0.113.9 - 0a1b2c3d - [15/Nov/2026:10:00:00 +0000] "GET /health HTTP/1.1" 200 43 "-" "probe"',
    ],
    [
      'with the time before both',
      '[15/Nov/2026:10:00:00 +0000] mail.example.com 203.0.113.9 0.227 "REPORT /dav/ HTTP/2.0" 207 125 440 - agent/8.0',
    ],
    [
      'without quotation marks',
      '[notice] 2026-11-15T10:00:00.579985Z <0.17607.12> e1fed412f8 203.0.113.9 undefined GET /z22 404 ok 1',
    ],
    ['with tabs', '2026-11-15T10:00:00.551-08:00\t203.0.113.9\tPUT\t/v1/announcement\tnull\t202\t980\tHTTP/1.1'],
    ['with the client behind it', 'Started GET "/metrics" for 203.0.113.9 at 2026-11-15 10:00:00 +0000'],
    ['with the status first', '2026/11/15 10:00:00 | 401 |  9.93ms |  203.0.113.9 | POST     "/api/login"'],
    ['with colours', '2026/11/15 | 203.0.113.9|#033[42m 200 #033[0m| 9.9ms |#033[44m GET     #033[0m /api/ping'],
    ['of a proxy', '1794736800.873 206 203.0.113.9 DIRECT/451 8207 GET www.example.net - DIRECT/- text/html PASS'],
    ['that was none', 'www.example.com 203.0.113.9 - r5 - [15/Nov/2026:10:00:00 +0000] "HELP" 400 157 "-" "-"'],
    ['that names an address in its path', 'pool-7 203.0.113.9 took 4ms GET /redirect?to=198.51.100.7 200'],
    ['with the server behind it', 'pool-7 203.0.113.9 - "GET / HTTP/1.1" 200 571 198.51.100.7:8080 0.003'],
  ])('%s', (_, line) => {
    const { sightings } = read(line)
    expect(sightings.filter(({ type, role }) => type === 'ip' && role === 'source').map(({ value }) => value)).toEqual([
      '203.0.113.9',
    ])
  })

  it('tells how the request went where the status is next to the version', () => {
    const { action, activity } = read('app-1 203.0.113.9 "GET /admin HTTP/1.1" 403 12')
    expect([action, activity]).toEqual(['blocked', 'request'])
  })

  it('has addresses in a list, which proxies noted in their order', () => {
    const line =
      '[2026-11-15T10:00:00.000Z] "GET /a HTTP/1.1" 200 - 0 512 30 "198.51.100.7, 203.0.113.9, 10.42.0.1" "agent/8"'
    expect(read(line).sightings.map(({ value, role }) => `${value} ${role}`)).toEqual([
      '198.51.100.7 claimed',
      '203.0.113.9 source',
      '10.42.0.1 observer',
    ])
  })

  it('has the server before the list, and who called behind it', () => {
    const line =
      '198.51.100.7 203.0.113.9, 10.0.0.2 10.0.0.3 - - [15/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" 404 8571 "-" "agent/8"'
    expect(
      read(line)
        .sightings.map(({ value, role }) => `${value} ${role}`)
        .sort(),
    ).toEqual(['10.0.0.2 observer', '10.0.0.3 observer', '198.51.100.7 destination', '203.0.113.9 source'])
  })

  it('gives no role to two addresses of which either may be the client', () => {
    expect(read('pool-7 GET /a 203.0.113.9 4711 ms by 198.51.100.7 ok').sightings.map(({ role }) => role)).toContain(
      'other',
    )
  })
})
