// Serves a TAXII collection of a million indicators, a thousand per page, for bench/taxii.mjs.
import { createServer } from 'node:http'

const million = 1_000_000
const perPage = 1000

const valueOf = (number) => {
  if (number % 2 === 0) return `domain-name:value = 'h${number}.d${number % 5000}.example.com'`
  return `ipv4-addr:value = '${16 + ((number >>> 16) % 80)}.${(number >>> 12) & 255}.${(number >>> 8) & 15}.${number & 255}'`
}

/** In OpenCTI's format, about 900 bytes. */
const indicatorOf = (number) => ({
  type: 'indicator',
  spec_version: '2.1',
  id: `indicator--${((number * 2654435761) >>> 0).toString(16).padStart(8, '0')}-0000-4000-8000-${String(number).padStart(12, '0')}`,
  created: '2026-01-01T00:00:00.000Z',
  modified: '2026-01-02T00:00:00.000Z',
  created_by_ref: 'identity--a0c22599-9e58-4da4-96ac-7051603fa951',
  revoked: false,
  confidence: number % 101,
  lang: 'en',
  labels: ['botnet', `campaign-${number % 50}`],
  object_marking_refs: ['marking-definition--f88d31f6-486f-44da-b317-01333bde0b82'],
  extensions: {
    'extension-definition--ea279b3e-5c71-4632-ac08-831c66a786ba': {
      extension_type: 'property-extension',
      id: `25cab01c-46be-48ed-832f-${String(number).padStart(12, '0')}`,
      type: 'Indicator',
      score: 70,
      is_inferred: false,
    },
  },
  name: `Indicator ${number}`,
  description: 'Seen in command and control traffic of a botnet',
  pattern_type: 'stix',
  pattern: `[${valueOf(number)}]`,
  valid_from: '2026-01-01T00:00:00.000Z',
})

const server = createServer(({ url }, response) => {
  const from = Number(new URL(url, 'http://localhost').searchParams.get('next') ?? 0)
  const next = from + perPage
  const objects = Array.from({ length: perPage }, (_, at) => indicatorOf(from + at))
  response
    .writeHead(200, {
      'content-type': 'application/taxii+json;version=2.1',
      'x-taxii-date-added-last': '2026-01-02T00:00:00.000Z',
    })
    .end(JSON.stringify({ ...(next < million && { more: true, next: String(next) }), objects }))
})
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.once('disconnect', () => process.exit())
