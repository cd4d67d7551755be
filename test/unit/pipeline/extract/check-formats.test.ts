// Formats are refused with file, line and reason; those that come with the program pass their own examples and each of them is needed.
import type { FormatDocument } from '../../../../src/domain/problem.js'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readFormatFiles } from '../../../../src/config/format-files.js'
import { checkFormats } from '../../../../src/pipeline/extract/check-formats.js'
import { decode } from '../../../../src/pipeline/decode.js'
import { createExtract } from '../../../../src/pipeline/extract/extract.js'
import type { FormatSpec } from '../../../../src/pipeline/extract/formats.js'

const bundled = readFormatFiles([resolve(import.meta.dirname, '../../../../formats')])
const { formats, problems } = checkFormats(bundled.documents)
const settings = { maxIndicators: 64, maxDepth: 64, maxEventBytes: 1_048_576 }

type Example = { line: string; [name: string]: string | number }
type Document = { id: string; example?: Example; variants?: { id: string; example: Example }[] }

/** Every variant: the formats without it, and its example. */
const variants = bundled.documents.flatMap(({ value }) => {
  const { id, example, variants: list } = value as Document
  const without = (keep: (spec: FormatSpec) => FormatSpec[]) =>
    formats.flatMap((spec) => (spec.id === id ? keep(spec) : [spec]))
  if (list === undefined) return [{ name: id, example, rest: without(() => []) }]
  return list.map((one) => ({
    name: `${id}.${one.id}`,
    example: one.example,
    rest: without((spec) => [{ ...spec, variants: spec.variants?.filter((variant) => variant.id !== one.id) }]),
  }))
})

/** What is found in a line: the action, the flow, the ports, and each value with its role. */
const readWith = (specs: readonly FormatSpec[], line: string) => {
  const found = createExtract({ ...settings, formats: specs })(decode(Buffer.from(line), settings))
  const { action, flow, sourcePort, destinationPort, sightings } = found
  return { action, flow, sourcePort, destinationPort, values: sightings.map(({ value, role }) => [role, value]) }
}

describe('texts that a format names', () => {
  const line: FormatSpec = { id: 'a-line', cut: 'text', line: '{*} to {destination}', contains: ['zq1 '] }
  const object: FormatSpec = { id: 'an-object', cut: 'json', contains: ['"zq1"'], fields: { zq1: 'source.ip' } }
  const pairs: FormatSpec = { id: 'some-pairs', cut: 'pairs', contains: ['zq1='], fields: { zq1: 'source.ip' } }
  const extract = createExtract({ ...settings, formats: [line, object, pairs] })
  const formatOf = (text: string) => extract(decode(Buffer.from(text), settings)).format

  it.each([
    ['{"zq1":"192.0.2.10"}', 'an-object'],
    ['{"zq2":"192.0.2.10"}', 'json'],
    ['zq1=192.0.2.10 b=2', 'some-pairs'],
    ['zq2=192.0.2.10 b=2', 'pairs'],
    ['zq1 went to 192.0.2.10', 'a-line'],
    ['zq2 went to 192.0.2.10', 'text'],
  ])('are looked for in %s, whatever was read before it', (text, format) => {
    for (const before of ['a "zq1" here', 'zq1=1 b=2', 'zq1 is', '{"zq1":1}', 'nothing']) {
      formatOf(before)
      expect([before, formatOf(text)]).toEqual([before, format])
    }
  })
})

describe('the formats that come with the program', () => {
  it('pass their examples and do not overlap', () => {
    expect([...bundled.problems, ...problems]).toEqual([])
    expect(formats.length).toBeGreaterThan(5)
  })

  it.each(variants)('include $name because its example is read otherwise without it', ({ example, rest }) => {
    const { line } = example as Example
    expect(readWith(rest, line)).not.toEqual(readWith(formats, line))
  })

  const corpora = ['firewall-logs', 'more-logs'].map((name) =>
    resolve(import.meta.dirname, `../../../../../shared/corpus/${name}.ndjson`),
  )
  it.runIf(corpora.every((file) => existsSync(file)))('never match one line of the corpora twice', () => {
    const lines = corpora.flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
    const readers = formats.map((spec) => ({ id: spec.id, extract: createExtract({ ...settings, formats: [spec] }) }))
    const recognisedBy = (line: string) =>
      readers.filter(({ id, extract }) => extract(decode(Buffer.from(line), settings)).format === id)
    const twice = lines.filter((line) => recognisedBy((JSON.parse(line) as { raw: string }).raw).length > 1)
    expect(twice).toEqual([])
  })
})

const source = (value: object): FormatDocument => ({
  file: 'mine.yaml',
  value,
  lineOf: (path) => 1 + path.length,
})
const acme = {
  id: 'acme',
  cut: 'text',
  contains: ['acme-fw'],
  line: '{*}acme-fw {event.action} {source} >> {destination}',
  example: {
    line: 'acme-fw zapped 192.0.2.1:4711 >> 198.51.100.7:443',
    'source.ip': '192.0.2.1',
    'source.port': 4711,
    'destination.ip': '198.51.100.7',
    'event.action': 'blocked',
  },
  words: { blocked: ['zapped'] },
}

describe('a format of one’s own', () => {
  it('is read by its pieces, with words of its own for the action', () => {
    const checked = checkFormats([source(acme)], formats)
    expect(checked.problems).toEqual([])
    const extract = createExtract({ ...settings, formats: [...formats, ...checked.formats] })
    const found = extract(
      decode(Buffer.from('<13>Nov 15 10:00:00 fw acme-fw zapped 192.0.2.9:1 >> 198.51.100.9:22'), settings),
    )
    expect(found).toMatchObject({ format: 'acme', action: 'blocked', sourcePort: 1, destinationPort: 22 })
    expect(found.sightings.map(({ value, role, rule }) => [value, role, rule])).toEqual([
      ['192.0.2.9', 'source', 'format:acme'],
      ['198.51.100.9', 'destination', 'format:acme'],
    ])
  })

  it.each([
    [
      'pairs',
      { id: 'a-pairs', cut: 'pairs', when: { vendor: 'acme' }, fields: { f: 'source.ip', t: 'destination.ip' } },
      'vendor=acme f=192.0.2.1 t=198.51.100.7',
    ],
    [
      'a row',
      { id: 'a-row', cut: 'csv', separator: ';', when: { 1: 'acme' }, fields: { 3: 'source.ip', 2: 'destination.ip' } },
      'acme;198.51.100.7;192.0.2.1',
    ],
    [
      'JSON',
      { id: 'a-json', cut: 'json', when: { vendor: 'acme' }, fields: { 'x.f': 'source.ip', 'x.t': 'destination.ip' } },
      '{"vendor":"acme","x":{"f":"192.0.2.1","t":"198.51.100.7"}}',
    ],
  ])('cuts %s', (_, format, line) => {
    const example = { line, 'source.ip': '192.0.2.1', 'destination.ip': '198.51.100.7' }
    expect(checkFormats([source({ ...format, example })], formats).problems).toEqual([])
  })

  it.each([
    [
      'a wrong example',
      { ...acme, example: { ...acme.example, 'source.ip': '192.0.2.2' } },
      'source.ip should be 192.0.2.2, found 192.0.2.1',
    ],
    ['an example of something else', { ...acme, example: { line: 'acme-fw' } }, 'not recognised'],
    ['an unknown name', { ...acme, line: '{*}acme-fw {src.ip}' }, '{src.ip} is no name'],
    [
      'an unknown name of a column',
      { id: 'acme-row', cut: 'csv', when: { 1: 'a' }, fields: { 2: 'src' }, example: { line: 'a,1' } },
      'src is no name',
    ],
    ['an id that says something else', { ...acme, id: 'none' }, 'none is no id'],
    ['an unknown key', { ...acme, priority: 7 }, 'priority is nothing'],
    ['no example', { ...acme, example: undefined }, 'needs an example'],
    ['an id that is taken', { ...acme, id: 'squid' }, 'another format has the id squid'],
    [
      'a line of another format',
      {
        ...acme,
        contains: ['TCP_'],
        line: '{*}TCP_{*} {destination}',
        example: {
          line: '1.1 1 192.0.2.1 TCP_MISS/200 4 GET http://www.example.com/ - HIER_DIRECT/198.51.100.7 text/html',
        },
      },
      'two formats must not match',
    ],
  ])('is refused for %s', (_, format, message) => {
    const [problem] = checkFormats([source(format)], formats).problems
    expect(problem).toMatchObject({ file: 'mine.yaml', line: expect.any(Number) as number })
    expect(problem?.message).toContain(message)
  })
})
