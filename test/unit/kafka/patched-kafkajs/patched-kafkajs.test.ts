// Whether the replacements of parts of kafkajs take effect, and that one which does not is refused with what to do.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { encodeProduce } from '../../../../src/kafka/patched-kafkajs/encode-produce.js'
import { Kafka, refusal } from '../../../../src/kafka/patched-kafkajs/patched-kafkajs.js'
import { replaceParts, type Part } from '../../../../src/kafka/patched-kafkajs/replace-parts.js'

const load = createRequire(import.meta.url)
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

/** A package of two modules, the second of which uses the first. */
const fake = (modules: Readonly<Record<string, string>> = {}): string => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'threatweave-parts-')))
  folders.push(root)
  mkdirSync(join(root, 'src'))
  writeFileSync(join(root, 'package.json'), '{"version":"1.0.0"}')
  const files = { part: 'module.exports = () => "theirs"', user: 'module.exports = require("./part")', ...modules }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'src', `${name}.js`), text)
  return root
}
const part: Part = { path: 'part.js', usedBy: ['user.js'], replacement: () => () => 'ours' }

describe('the installed kafkajs', () => {
  it('uses every replacement', () => {
    expect(refusal).toBeUndefined()
  })

  it('writes produce requests with our encoder', () => {
    const versions = load('kafkajs/src/protocol/requests/produce') as {
      protocol: (about: object) => (given: object) => { request: { encode: { toString: () => string } } }
    }
    const given = { acks: -1, timeout: 1, topicData: [] }
    const { request } = versions.protocol({ version: 7 })(given)
    expect(String(request.encode)).toBe(String(encodeProduce(given).encode))
  })

  it('has an event for a position that was reset', () => {
    const consumer = new Kafka({ brokers: ['127.0.0.1:1'] }).consumer({ groupId: 'test' })
    expect(consumer.events).toHaveProperty('OFFSET_RESET', 'consumer.offset_reset')
  })

  it('names the error of a fenced producer', () => {
    const { createErrorFromCode } = load('kafkajs/src/protocol/error') as {
      createErrorFromCode: (code: number) => { type: string; retriable: boolean }
    }
    expect(createErrorFromCode(90)).toMatchObject({ type: 'PRODUCER_FENCED', retriable: false })
  })
})

describe('a replacement', () => {
  it('is what the module gets that uses the part', () => {
    const root = fake()
    expect(replaceParts(root, '1.0.0', [part])).toBeUndefined()
    expect((load(join(root, 'src/user.js')) as () => string)()).toBe('ours')
  })

  it.each([
    ['another version is installed', fake(), '1.0.1', part, /kafkajs 1\.0\.0 is installed, .* 1\.0\.1: .*npm ci/],
    ['there is no such part', fake(), '1.0.0', { ...part, path: 'gone.js' }, /no module gone\.js: .*npm ci/],
    ['there is no such user', fake(), '1.0.0', { ...part, usedBy: ['gone.js'] }, /no module gone\.js: .*npm ci/],
    [
      'the part is not used',
      fake({ user: 'module.exports = 1' }),
      '1.0.0',
      part,
      /does not use the replacement of part\.js: .*npm ci/,
    ],
  ] as const)('is refused where %s', (_, root, version, one, refused) => {
    expect(replaceParts(root, version, [one])).toMatch(refused)
  })

  it('is refused where the part was loaded before', () => {
    const root = fake()
    load(join(root, 'src/user.js'))
    expect(replaceParts(root, '1.0.0', [part])).toMatch(/loaded before .* import threatweave before anything/)
  })
})
